"""Files that others may read at any moment: they find the old text or the new."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from fxtrio.build_folder import make_folder


def write_whole(path: Path, data: bytes) -> bool:
    """Write a file in one step, with its folders; return whether it was another one before."""
    try:
        if path.read_bytes() == data:
            return False
    except OSError:  # there is none
        make_folder(path.parent)
    with replacement(path) as file:
        file.write(data)
    return True


@contextmanager
def replacement(path: Path) -> Iterator[IO[bytes]]:
    """Have a file in the same folder that takes the place of ``path`` when the block ends.

    It does not when the block raises.
    """
    # Another process or thread may write the same: two `fx dev` of one project.
    writer = f"{os.getpid()}-{threading.get_ident()}"
    part = path.with_name(f".{path.name}.{writer}.part")
    try:
        part.unlink(missing_ok=True)  # a link that waits under this name is not written through
        with part.open("xb") as file:
            yield file
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
