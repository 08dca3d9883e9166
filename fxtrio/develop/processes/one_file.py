"""What Node starts with in `fx dev`: all modules of its script in one file, if there is one.

Node itself writes it after its first start (`fxtrio/js/develop/runtime/command.js`). Imports next
to nothing.
"""

from __future__ import annotations

import json
import os
import zlib
from contextlib import suppress
from pathlib import Path

from fxtrio.build_folder import UNUSABLE
from fxtrio.cache_folder import cache_folder

_PREFIX = "develop-"
_COMMENT = b"// "


def file_of(script: Path) -> Path:
    """Return the file for all modules of ``script``: each installation has one of its own."""
    return cache_folder() / f"{_PREFIX}{zlib.crc32(os.fsencode(script)):08x}.mjs"


def arguments_for(script: Path) -> list[str]:
    """Return what Node is started with, so that it runs ``script``."""
    file = file_of(script)
    toolchain = toolchain_in(file, script)
    if toolchain is None:
        return [str(script), str(file)]
    return [str(file), str(file), toolchain]


def toolchain_in(file: Path, script: Path) -> str | None:
    """Return where the toolchain was when ``file`` was written.

    None unless that is whole, and all modules of ``script`` are as they were, and the lock of the
    toolchain is. Node sees what else moves it, and writes the file again.
    """
    with suppress(*UNUSABLE, AttributeError, KeyError, TypeError):
        first, _, code = file.read_bytes().partition(b"\n")
        stored = json.loads(first.removeprefix(_COMMENT))
        whole = stored["script"] == str(script) and stored["checksum"] == zlib.crc32(code)
        if whole and all(_state(path) == state for path, state in stored["files"].items()):
            return str(stored["toolchain"])
    return None


def _state(path: str) -> list[str]:
    found = os.stat(path)  # noqa: PTH116 - a hundred Paths take longer
    return [str(found.st_size), str(found.st_mtime_ns)]
