"""Files of `.fx/types` that are written only where their text is another one.

Compilers and editors see by that what has changed, and a save looks at few of the files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import attrs

from fxtrio.atomic_write import write_whole
from fxtrio.build_folder import require_no_link

Stamp = tuple[int, int, int]
"""Time, size and inode of a file."""


@attrs.define(eq=False)
class TextFiles:
    """The files of one project, below ``root``; remembers what it has written."""

    root: Path
    _written: dict[str, tuple[str, Stamp]] = attrs.field(factory=dict)
    """Text of each file, and by what it is known that nobody else has written it since."""

    _folders: dict[str, Stamp] = attrs.field(factory=dict)
    """By what it is known that nobody else has put a file into a folder."""

    def text_of(self, path: str) -> str | None:
        """Return the text that was written to a file last; None without any."""
        known = self._written.get(path)
        return None if known is None else known[0]

    def write(self, path: str, text: str) -> bool:
        """Write a file, unless it is as it was when this text was written to it.

        Return whether it was looked into. Most files of a project stay as they are, and looking
        into all of them takes longer than all else that a save costs.
        """
        place = f"{self.root}/{path}"
        known, stamp = self._written.get(path, ("", None))
        if stamp is not None and known == text and _stamp(place) == stamp:
            return False
        write_text(self.root, Path(path), text)
        stamp = _stamp(place)
        if stamp is not None:
            self._written[path] = text, stamp
        else:  # somebody has removed it at once
            self._written.pop(path, None)
        return True

    def write_all(self, folder: str, texts: Mapping[str, str]) -> set[str]:
        """Write the files ``texts`` in a folder; return those that were looked into.

        Whoever writes such a file puts a new one in its place, which changes the folder: where
        that is as it was, none of its files is looked at whose text stays.
        """
        found = set()
        same: dict[str, bool] = {}
        for name, text in texts.items():
            path = f"{folder}/{name}"
            inside = path.rpartition("/")[0]
            is_same = same.get(inside)
            if is_same is None:
                known = self._folders.get(inside)
                is_same = known is not None and _stamp(f"{self.root}/{inside}") == known
                same[inside] = is_same
            if is_same and (known_text := self._written.get(path)) and known_text[0] == text:
                continue
            if self.write(path, text):
                found.add(name)
        for inside in same:
            stamp = _stamp(f"{self.root}/{inside}")
            if stamp is not None:
                self._folders[inside] = stamp
        return found


def write_text(root: Path, path: Path, text: str) -> bool:
    """Write the file ``path`` below ``root`` if its text is another one; return whether it was.

    Raises LinkInTheWay.
    """
    return write_whole(require_no_link(root, path), text.encode())


def _stamp(path: str) -> Stamp | None:
    try:
        found = os.lstat(path)
    except OSError:  # it is not there
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
