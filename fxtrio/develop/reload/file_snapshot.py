"""The files of a project as they were seen last: what a folder that comes or goes stands for.

Nobody tells of files in a folder that is moved, or of those that are in a new one before it is
watched. Where folders cannot be watched at all, the files are looked at again and again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs
from watchfiles import Change

from fxtrio.develop.reload.ignored import ENVIRONMENT, FOLDERS, INSTALLED

_MOST = 50_000  # files: looking at them takes some tenths of a second

Stamp = tuple[int, int, int]
"""What tells two versions of a file apart: time, size and inode; zeros for one not looked at."""

_UNKNOWN = (0, 0, 0)


@attrs.define(eq=False)
class SeenFiles:
    """Those below ``root`` (absolute), without folders that never matter."""

    root: Path
    _files: dict[str, Stamp] = attrs.field(factory=dict)

    def __attrs_post_init__(self) -> None:
        """Look at them for the first time."""
        self._files = self._found()

    def changes_of(self, changed: Iterable[tuple[Change, str]]) -> list[tuple[Change, str]]:
        """Return changes of files as they are, and those of folders as those of their files."""
        return [one for change, path in changed for one in self._of_files(change, path)]

    def _of_files(self, change: Change, path: str) -> list[tuple[Change, str]]:
        if change is not Change.deleted and Path(path).is_dir():
            files = dict(_walk(path, self.root)) if change is Change.added else {}
            self._files.update(files)
            return [(Change.added, file) for file in files]
        if change is not Change.deleted or Path(path).exists():
            self._files[path] = _UNKNOWN
            return [(change, path)]
        inside = [path] if path in self._files else self._below(path)
        for file in inside:
            del self._files[file]
        return [(change, file) for file in inside or [path]]

    def looked_at_again(self) -> list[tuple[Change, str]]:
        """Return the differences since all files were looked at last."""
        before, self._files = self._files, self._found()
        came = [(Change.added, file) for file in self._files if file not in before]
        deleted = [(Change.deleted, file) for file in before if file not in self._files]
        changed = [
            (Change.modified, file)
            for file, stamp in self._files.items()
            if before.get(file, stamp) != stamp
        ]
        return [*came, *deleted, *changed]

    def _below(self, folder: str) -> list[str]:
        return [file for file in self._files if file.startswith(f"{folder}{os.sep}")]

    def _found(self) -> dict[str, Stamp]:
        files = dict(_walk(str(self.root), self.root))
        for name in INSTALLED:
            stamp = _stamp(str(self.root / name))
            if stamp is not None:
                files[str(self.root / name)] = stamp
        return files


def _walk(top: str, root: Path) -> Iterator[tuple[str, Stamp]]:
    number = 0
    for folder, folders, files in os.walk(top):
        if ENVIRONMENT in files and folder != str(root):
            folders.clear()
            continue
        folders[:] = [name for name in folders if name not in FOLDERS]
        for name in files:
            number += 1
            if number > _MOST:
                return
            path = f"{folder}{os.sep}{name}"
            stamp = _stamp(path)
            if stamp is not None:
                yield path, stamp


def _stamp(path: str) -> Stamp | None:
    try:
        found = Path(path).stat()
    except OSError:  # deleted since, or a link that leads nowhere
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
