"""An editor for tests: starts `fx lsp`, opens files, and sees the messages of the server."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from subprocess import PIPE
from typing import Any

import trio

from fxtrio.tools.lsp.answers.hover import STARTING
from fxtrio.tools.lsp.rpc import Answerer, TrioProtocol

DEADLINE = 120.0
"""For one test: a first one installs the toolchain (seconds)."""


FX_LSP = [sys.executable, "-P", "-m", "fxtrio", "lsp", "--stdio"]


class Editor:
    """What an editor keeps of its side."""

    def __init__(self) -> None:
        self.diagnostics: dict[str, list[dict[str, Any]]] = {}
        self.versions: dict[str, int | None] = {}
        self.lines: list[str] = []
        self.connection: TrioProtocol = Answerer(
            "fx lsp",
            {
                "textDocument/publishDiagnostics": self._receive_diagnostics,
                "window/logMessage": lambda params: self._note(params["message"]),
            },
        ).protocol
        self.process: trio.Process
        self._changed = trio.Event()

    def _receive_diagnostics(self, params: Any) -> None:
        self.diagnostics[params["uri"]] = params["diagnostics"]
        self.versions[params["uri"]] = params.get("version")
        self._wake()

    def _note(self, line: str) -> None:
        self.lines.append(line)
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something holds of the messages."""
        while not condition():
            await self._changed.wait()

    async def open(self, file: Path, text: str | None = None, version: int = 1) -> str:
        """Open a file as it is on the disk, or with another text; returns its URI."""
        item = {
            "uri": file.as_uri(),
            "languageId": "fxl",
            "version": version,
            "text": await trio.Path(file).read_text("utf-8") if text is None else text,
        }
        self.connection.notify("textDocument/didOpen", {"textDocument": item})
        return file.as_uri()

    async def write(self, uri: str, version: int, *changes: dict[str, Any]) -> None:
        """Edit an open file."""
        document = {"uri": uri, "version": version}
        params = {"textDocument": document, "contentChanges": list(changes)}
        self.connection.notify("textDocument/didChange", params)

    async def saved(self, uri: str) -> None:
        """Tell that a file was saved."""
        self.connection.notify("textDocument/didSave", {"textDocument": {"uri": uri}})

    async def ask(self, method: str, uri: str, line: int, character: int, **more: Any) -> Any:
        """Ask about a place, both numbers from 0."""
        place = {"line": line, "character": character}
        params = {"textDocument": {"uri": uri}, "position": place, **more}
        return await self.connection.ask(f"textDocument/{method}", params)


@asynccontextmanager
async def open_editor(
    root: Path, *, deadline: float = DEADLINE, command: Sequence[str] = FX_LSP, **options: Any
) -> AsyncIterator[Editor]:
    """Start `fx lsp` for the folder ``root`` and greet it; it has ended when the block has.

    ``command`` starts the server, ``options`` are its own, by default
    without a server for Python; the block may take ``deadline`` seconds.
    """
    editor = Editor()
    start = partial(trio.run_process, [*command], stdin=PIPE, stdout=PIPE, check=False, cwd=root)
    with trio.fail_after(deadline):
        async with trio.open_nursery() as nursery:
            process = editor.process = await nursery.start(start)
            await nursery.start(editor.connection.serve, process.stdout, process.stdin)
            await editor.connection.ask(
                "initialize",
                {
                    "processId": None,
                    "rootUri": root.as_uri(),
                    "capabilities": {},
                    "initializationOptions": {"python": [], **options},
                },
            )
            editor.connection.notify("initialized", {})
            yield editor
            await editor.connection.ask("shutdown", None)
            editor.connection.notify("exit", None)
            await process.wait()
        assert process.returncode == 0


async def known(editor: Editor, uri: str, at: tuple[int, int]) -> None:
    """Wait until the types of the project are known, and what is at a place."""
    hover = None
    while hover is None or hover["contents"].get("value") == STARTING:
        hover = await editor.ask("hover", uri, *at)  # each answer waits for them
