"""Formats each page once when it is opened, and drops the result.

The first format of a page of 2,000 lines starts Node, loads prettier and reads all of its
statements, which takes 3 s; each later one takes 10 ms for what has changed. So the first one is
made while nobody waits for it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import trio
from pygls.exceptions import JsonRpcException

from fxtrio.compile.bundling.installation import LISTING, tool
from fxtrio.tools.format.prettier import own_home
from fxtrio.tools.lsp.documents.documents import Document, Documents

Format = Callable[[Document], Awaitable[object]]
"""Formats a file as it is in the editor. Raises JsonRpcException."""

Wait = Callable[[Path], Awaitable[None]]
"""Waits until nobody waits for anything of a project."""


class PreparedFormats:
    """Formats what `opened` names. `run` it."""

    def __init__(
        self,
        documents: Documents,
        root_of: Callable[[Path], Path],
        wait_idle: Wait,
        format_: Format,
    ) -> None:
        self._documents = documents
        self._root_of = root_of
        self._wait_idle = wait_idle
        self._format = format_
        self._files: dict[Path, None] = {}  # in their order; at most those that are open
        self._wake = trio.Event()

    def opened(self, file: Path) -> None:
        """Format a file that was opened, as soon as there is time."""
        self._files[file] = None
        self._wake.set()

    async def run(self) -> None:
        """Format until cancelled."""
        while True:
            while self._files:
                file = next(iter(self._files))
                del self._files[file]
                await self._prepare(file)
            self._wake = trio.Event()
            await self._wake.wait()

    async def _prepare(self, file: Path) -> None:
        root = self._root_of(file)
        await self._wait_idle(root)
        document = self._documents.get(file)
        if document is None or not await trio.to_thread.run_sync(_has_prettier, root):
            return
        with suppress(JsonRpcException):  # which whoever asks for the format gets
            await self._format(document)


def _has_prettier(root: Path) -> bool:
    """Whether prettier is installed: only an explicit format waits for its download."""
    return own_home(root) is not None or (tool("prettier").folder / LISTING).is_file()
