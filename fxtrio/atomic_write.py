"""Files that others may read at any moment: they find the old text or the new.

Linux exchanges two files or folders in one step.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_BUILDS = ".fx"

_RENAME_EXCHANGE = 2  # linux/fs.h
_AT_FDCWD = -100  # fcntl.h: paths are relative to the working folder


def write_whole(path: Path, data: bytes, *, lasting: bool = True) -> bool:
    """Write a file in one step, with its folders; return whether it was another one before.

    One that is not ``lasting`` may be empty after the machine has crashed: file systems write to
    the disk first what takes the place of another file, which takes some milliseconds.
    """
    is_there = True
    try:
        if path.read_bytes() == data:
            return False
    except OSError:
        is_there = False
        make_folder(path.parent)
    with replacement(path, exchanged=is_there and not lasting) as file:
        file.write(data)
    return True


def write_new(path: Path, data: bytes) -> None:
    """Write a file of a folder that nobody else reads yet, with its folders."""
    try:
        path.write_bytes(data)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@contextmanager
def replacement(path: Path, *, exchanged: bool = False) -> Iterator[IO[bytes]]:
    """Have a file in the same folder that takes the place of ``path`` when the block ends.

    It does not when the block raises. ``exchanged`` is for a file that is there, and need not last.
    """
    # Another process or thread may write the same: two `fx dev` of one project.
    writer = f"{os.getpid()}-{threading.get_ident()}"
    part = path.with_name(f".{path.name}.{writer}.part")
    try:
        part.unlink(missing_ok=True)  # a link that waits under this name is not written through
        with part.open("xb") as file:
            yield file
        if not (exchanged and exchange(part, path)):
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def exchange(one: Path, other: Path) -> bool:
    """Exchange two files or folders in one step; False where the system cannot."""
    # Heavy, and mostly not needed.
    import ctypes

    renameat2 = getattr(ctypes.CDLL(None), "renameat2", None) if os.name == "posix" else None
    if renameat2 is None:
        return False
    done = renameat2(_AT_FDCWD, bytes(one), _AT_FDCWD, bytes(other), _RENAME_EXCHANGE)
    return bool(done == 0)


def make_folder(folder: Path) -> None:
    """Create ``folder`` with the folders around it, but not the project that it is in.

    Whoever has moved a project away wants to move it back. Raises FileNotFoundError then.
    """
    for place in (folder, *folder.parents):
        if place.name == _BUILDS and not place.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(place.parent))
    folder.mkdir(parents=True, exist_ok=True)
