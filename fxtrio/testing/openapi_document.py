"""`/openapi.json` of apps in tests: described at its first request, once for equal projects.

Describing takes a process that imports the project; most tests never ask.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import attrs
import msgspec
import trio

from fxtrio.config import Config
from fxtrio.serve.openapi.answer import WholeDocument
from fxtrio.tools.openapi.describe import NotDescribed, describe

_KINDS = (".py", ".fxl", ".toml")
_OTHERS = frozenset({".fx", ".git", ".venv", "__pycache__", "node_modules", "venv"})
"""Folders in which nothing is the project's own."""

log = logging.getLogger("fx.openapi")

_described: dict[bytes, WholeDocument] = {}


@attrs.define(eq=False)
class LazyDocument:
    """That of the project in a folder, with some settings."""

    _root: Path
    _config: Config
    _hold: Callable[[], AbstractContextManager[None]]
    """Keeps a mock clock while another process works."""

    _making: trio.Lock = attrs.field(factory=trio.Lock)

    async def get(self) -> WholeDocument | None:
        """Return it; None, after a line in the log, when the project cannot be described."""
        async with self._making:
            state = await trio.to_thread.run_sync(_state_of, self._root, self._config)
            if state not in _described:
                try:
                    with self._hold():
                        document = await describe(self._root, self._config)
                except NotDescribed as error:
                    log.error("%s", error)
                    return None
                encoded = msgspec.json.encode(document)
                _described[state] = msgspec.json.decode(encoded, type=WholeDocument)
            return _described[state]


def _state_of(root: Path, config: Config) -> bytes:
    """Return a digest of all that a description depends on."""
    digest = hashlib.sha256(pickle.dumps((root, config)))
    for place, folders, files in os.walk(root):
        folders[:] = sorted(set(folders) - _OTHERS)
        for name in sorted(files):
            if name.endswith(_KINDS):
                path = Path(place, name)
                found = path.stat()
                digest.update(pickle.dumps((str(path), found.st_mtime_ns, found.st_size)))
    return digest.digest()
