"""What differs where another fxtrio has written what `fx dev` keeps on the disk."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import fxtrio

_PACKAGE = Path(fxtrio.__file__).parent
_FOLDERS = (
    _PACKAGE / "compile",
    _PACKAGE / "routes",
    _PACKAGE.parent / "fx",
    _PACKAGE / "js" / "develop",
    _PACKAGE / "js" / "vite",
)
"""Folders of the code that decides what comes of a page file, and what Node says of views."""

_FILES = (_PACKAGE / "head.py", _PACKAGE / "manifest.py", _PACKAGE / "runtime.py")


@cache
def code_stamp() -> str:
    """Return what differs where other code checks pages, or another Python reads them."""
    digest = hashlib.sha256(f"{sys.version} {fxtrio.__version__}\n".encode())
    for file in sorted(_files()):
        stat = os.stat(file)  # noqa: PTH116 - it is called for each of a hundred
        digest.update(f"{file} {stat.st_mtime_ns} {stat.st_size}\n".encode())
    return digest.hexdigest()


def _files() -> Iterator[str]:
    yield from map(str, _FILES)
    for top in _FOLDERS:
        for folder, _, names in os.walk(top):
            yield from (f"{folder}/{name}" for name in names if name.endswith((".py", ".js")))
