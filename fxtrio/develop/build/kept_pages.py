"""What came of page files, kept on the disk: the next `fx dev` checks only those with other texts.

Only pages without a problem are kept: those depend on nothing but their text, and on the code that
checks them. Pages in Markdown have other files in them, and are made anew.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import attrs
import msgspec

import fxtrio
from fxtrio.atomic_write import write_whole
from fxtrio.compile.checked_page import CheckedPage
from fxtrio.manifest import FOLDERS

_FILE = FOLDERS["development"] / "checked.msgpack"
_PACKAGE = Path(fxtrio.__file__).parent
_CHECKS = (_PACKAGE / "compile", _PACKAGE / "routes", _PACKAGE.parent / "fx")
"""Folders of the code that decides what comes of a page file."""

_CHECKING = (_PACKAGE / "head.py", _PACKAGE / "manifest.py", _PACKAGE / "runtime.py")


GoodPages = dict[str, tuple[str, CheckedPage]]
"""Text and what came of it, by source: what `CheckedTexts.good` returns."""


@attrs.frozen
class _Kept:
    made_by: str
    """See `_checker`."""

    pages_dir: str
    pages: GoodPages


def find_kept(root: Path, pages_dir: str) -> GoodPages:
    """Return what an earlier process has kept of the project in ``root``."""
    try:
        kept = msgspec.msgpack.decode((root / _FILE).read_bytes(), type=_Kept)
    except (OSError, msgspec.MsgspecError):  # there is none, or of another version
        return {}
    return kept.pages if (kept.made_by, kept.pages_dir) == (_checker(), pages_dir) else {}


def keep(pages: GoodPages, root: Path, pages_dir: str) -> None:
    """Write ``pages`` for the next process. Raises OSError."""
    write_whole(root / _FILE, msgspec.msgpack.encode(_Kept(_checker(), pages_dir, pages)))


@cache
def _checker() -> str:
    """Return what differs where other code checks pages, or another Python reads them."""
    digest = hashlib.sha256(f"{sys.version} {fxtrio.__version__}\n".encode())
    for file in sorted(_files()):
        stat = os.stat(file)  # noqa: PTH116 - it is called for each of a hundred
        digest.update(f"{file} {stat.st_mtime_ns} {stat.st_size}\n".encode())
    return digest.hexdigest()


def _files() -> Iterator[str]:
    yield from map(str, _CHECKING)
    for top in _CHECKS:
        for folder, _, names in os.walk(top):
            yield from (f"{folder}/{name}" for name in names if name.endswith(".py"))
