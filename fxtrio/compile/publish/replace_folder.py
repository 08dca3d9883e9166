"""A folder that takes the place of another one. Called by `build`.

Linux exchanges the two in one step. Elsewhere, and on file systems that cannot,
there are two renames with a moment between them in which the place is empty.
A folder that cannot be renamed keeps its place, and what it contains is replaced.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fxtrio.atomic_write import exchange
from fxtrio.temporary_folders import open_temporary_folder

_CANNOT_BE_RENAMED = (errno.EXDEV, errno.EBUSY)
"""A folder of a lower layer of a container's image, and one where a file system is mounted."""


@contextmanager
def open_staging(target: Path) -> Iterator[Path]:
    """Have a new folder beside ``target`` for the block; what is left of it is removed.

    Folders of processes that were killed go first; those of running ones stay.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with open_temporary_folder(_prefix(target), target.parent) as staging:
        yield staging


def put_in_place(staging: Path, target: Path) -> None:
    """Let ``staging`` take the place of ``target``, and remove what was there.

    On failure ``target`` stays as it was. Raises OSError.
    """
    staging.chmod(0o755)  # it keeps others out at first; a server may run as another user
    if not target.exists():
        staging.replace(target)
    elif exchange(staging, target):
        shutil.rmtree(staging, ignore_errors=True)
    else:
        with open_temporary_folder(_prefix(target), target.parent) as room:
            old = room / target.name  # within a folder that nobody takes for abandoned
            try:
                target.replace(old)
            except OSError as error:
                if error.errno not in _CANNOT_BE_RENAMED:
                    raise
                old.mkdir()
                _replace_content(staging, target, old)
                return
            try:
                staging.replace(target)
            except OSError:
                old.replace(target)
                raise


def _replace_content(staging: Path, target: Path, old: Path) -> None:
    """Move what is in ``target`` to ``old``, and what is in ``staging`` to ``target``."""
    moved: list[tuple[Path, Path]] = []
    try:
        for source, place in ((target, old), (staging, target)):
            for one in list(source.iterdir()):
                is_copy = _move(one, place / one.name)
                moved.append((one, place / one.name))
                if is_copy:
                    _remove(one)
    except OSError:
        for before, now in reversed(moved):
            _move(now, before)
        raise


def _move(one: Path, place: Path) -> bool:
    """Rename a file or a folder; True where it had to be copied, since it is on another device."""
    try:
        one.replace(place)
        return False
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        is_folder = one.is_dir() and not one.is_symlink()
        try:
            if is_folder:
                shutil.copytree(one, place, symlinks=True, dirs_exist_ok=True)
            else:
                shutil.copy2(one, place, follow_symlinks=False)
        except OSError:
            _remove(place)
            raise
        return True


def _remove(one: Path) -> None:
    if one.is_dir() and not one.is_symlink():
        shutil.rmtree(one)
    else:
        one.unlink(missing_ok=True)


def _prefix(target: Path) -> str:
    """Return what the names of the folders begin with: nobody else's, since they are removed."""
    return f".{target.name}.fx-new-"
