"""The client runtime, as Node has bundled it (`fxtrio/js/develop/runtime/runtime.js`).

It is most of what the first page loads, at a time when Node makes the modules of that page. So its
files are sent without Node, as `Modules` finds them here.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import attrs
import trio

from fxtrio.manifest import FOLDERS

HEADERS: Final = (
    (b"content-type", b"text/javascript; charset=utf-8"),
    (b"cache-control", b"public, max-age=31536000, immutable"),
)
"""Of each file: its folder is named after what is in it."""

_NAME: Final = re.compile(r"[0-9a-f]{16}/[A-Za-z0-9_-]+\.js")


@attrs.frozen
class RuntimeFiles:
    """Those of the project in ``root``, which is served below ``base_url``."""

    root: Path
    base_url: str

    async def read(self, path: str) -> bytes | None:
        """Return the file at a URL path; None when there is none, of which Node may know."""
        folder = (FOLDERS["development"] / "runtime").as_posix()
        prefix = f"{self.base_url}/_fx/{folder}/"
        name = path.removeprefix(prefix)
        if name == path or not _NAME.fullmatch(name):
            return None
        try:
            return await trio.to_thread.run_sync((self.root / folder / name).read_bytes)
        except OSError:  # Node makes it, or has it
            return None
