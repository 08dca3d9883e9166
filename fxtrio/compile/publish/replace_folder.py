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
                _replace_content(staging, target)
                return
            try:
                staging.replace(target)
            except OSError:
                old.replace(target)
                raise


def _replace_content(staging: Path, target: Path) -> None:
    """Replace the content of ``target`` by that of ``staging``.

    The copy comes first, since the disk may be full. What follows renames, but for folders of lower
    layers, which are copied.
    """
    with open_temporary_folder(_prefix(target), target) as room:
        new = shutil.copytree(staging, room / "new", symlinks=True)
        old = room / "old"
        old.mkdir()
        set_aside: list[str] = []
        placed: list[str] = []
        try:
            for one in list(target.iterdir()):
                if one.name.startswith(_prefix(target)):
                    continue  # that is `room`, or another process's
                _set_aside(one, old, set_aside)
            for one in list(new.iterdir()):
                one.replace(target / one.name)
                placed.append(one.name)
        except OSError:
            try:
                for name in placed:
                    (target / name).replace(new / name)
                for name in set_aside:
                    _put_back(old / name, target / name)
            except OSError:
                old.replace(target / f"old{room.name}")  # which nobody removes
            raise


def _set_aside(one: Path, old: Path, names: list[str]) -> None:
    """Move what ``one`` is into ``old``, and add its name before anything of it is removed."""
    copied = False
    try:
        one.replace(old / one.name)
    except OSError as error:
        if error.errno not in _CANNOT_BE_RENAMED or not one.is_dir():
            raise
        shutil.copytree(one, old / one.name, symlinks=True)
        copied = True
    names.append(one.name)
    if copied:
        shutil.rmtree(one)


def _put_back(one: Path, place: Path) -> None:
    """Move ``one`` to ``place``, where a part of it may have stayed that cannot be removed."""
    if place.is_dir():
        shutil.copytree(one, place, symlinks=True, dirs_exist_ok=True)
    else:
        one.replace(place)


def _prefix(target: Path) -> str:
    """Return what the names of the folders begin with: nobody else's, since they are removed."""
    return f".{target.name}.fx-new-"


def why_irreplaceable(
    folder: Path, root: Path, *, mark: str, command: str
) -> tuple[str, str] | None:
    """Return why ``command`` may not replace ``folder``, and what to do; None where it may.

    It may if the folder is new or empty, or has the file ``mark``, which that command writes. It
    may not if the folder contains the project in ``root``.
    """
    remedy = "Name a new folder, such as 'dist'"
    if root.is_relative_to(folder):
        return "contains the project", remedy
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        return "is not a folder", remedy
    if folder.is_dir() and any(folder.iterdir()) and not (folder / mark).is_file():
        return f"contains files that {command!r} did not write", f"{remedy}, or empty it"
    return None
