"""What came of page files, kept on the disk: the next `fx dev` checks only those with other texts.

Only pages without a problem are kept: those depend on nothing but their text, and on the code that
checks them. Pages in Markdown have other files in them, and are made anew.
"""

from __future__ import annotations

from pathlib import Path

import attrs
import msgspec

from fxtrio.atomic_write import write_whole
from fxtrio.build_folder import UNUSABLE
from fxtrio.compile.checked_page import CheckedPage
from fxtrio.develop.build.code_stamp import code_stamp
from fxtrio.manifest import FOLDERS

_FILE = FOLDERS["development"] / "checked.msgpack"


GoodPages = dict[str, tuple[str, CheckedPage]]
"""Text and what came of it, by source: what `CheckedTexts.good` returns."""


@attrs.frozen
class _Kept:
    made_by: str
    """See `code_stamp`."""

    pages_dir: str
    pages: GoodPages


def find_kept(root: Path, pages_dir: str) -> GoodPages:
    """Return what an earlier process has kept of the project in ``root``."""
    try:
        kept = msgspec.msgpack.decode((root / _FILE).read_bytes(), type=_Kept)
    except UNUSABLE:
        return {}
    return kept.pages if (kept.made_by, kept.pages_dir) == (code_stamp(), pages_dir) else {}


def keep(pages: GoodPages, root: Path, pages_dir: str) -> None:
    """Write ``pages`` for the next process. Raises OSError."""
    write_whole(root / _FILE, msgspec.msgpack.encode(_Kept(code_stamp(), pages_dir, pages)))
