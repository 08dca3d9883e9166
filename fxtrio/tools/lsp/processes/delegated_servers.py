"""The user's own language servers, queried about the halves of pages as files of one language.

Each project has at most one process for each language, started with the first question and
started again when it dies, a few times. It has the files of earlier requests open, as they are
then; nothing is written to the disk.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs
import trio
from pygls.exceptions import JsonRpcException

from fxtrio.tools.lsp.answers.map_results import MapResult, RequestContext
from fxtrio.tools.lsp.documents.page import ParsedPage
from fxtrio.tools.lsp.documents.positions import Position
from fxtrio.tools.lsp.documents.virtual_document import Language, Projection, language_at, project
from fxtrio.tools.lsp.processes.supervised_process import SupervisedProcess
from fxtrio.tools.lsp.project_index import ProjectIndex
from fxtrio.tools.lsp.rpc import ConnectionLost, TrioProtocol

MOST_SERVERS = 20
"""Processes at a time, over all projects; further questions stay unanswered (count)."""

_ERROR = 1
_CHANGED_OR_CAME = (2, 1)  # TypeScript drops a change after "created"

_IDS = {".py": "python", ".tsx": "typescriptreact", ".jsx": "javascriptreact"}


def _agreed(params: Any) -> None:
    """Let a server do what it wants."""


@attrs.define(eq=False)
class _Server:
    """One process, and what it knows."""

    process: SupervisedProcess
    asking: trio.Lock = attrs.field(factory=trio.Lock)
    opened: dict[str, tuple[int, str]] = attrs.field(factory=dict)
    """Version and text by URI, of the process that runs now."""

    pages: dict[str, tuple[str, Projection]] = attrs.field(factory=dict)
    """The URI of the page and its half, by the URI that the server knows."""


class DelegatedServers:
    """Asks the servers that are configured. `run` it: it owns their processes."""

    def __init__(self, report: Callable[[str], None], knowledge: ProjectIndex) -> None:
        self.commands: dict[Language, Sequence[str] | None] = {}
        """How to start the server of a language; () for none. None stands for a server for Python
        that is installed, and for the TypeScript that fxtrio checks types with."""

        self._report = report
        self._knowledge = knowledge
        self._servers: dict[tuple[Path, Language], _Server] = {}
        self._wanted, self._starting = trio.open_memory_channel[SupervisedProcess](MOST_SERVERS)

    async def run(self) -> None:
        """Keep the processes running that questions need, until cancelled."""
        async with trio.open_nursery() as nursery:
            async for process in self._starting:
                nursery.start_soon(process.run, name=f"lsp.{process.name}")

    async def ask(
        self, method: str, page: ParsedPage, position: Position, back: MapResult, **more: Any
    ) -> Any:
        """Return what the server of the half at ``position`` answers; None without one.

        ``back`` maps its positions to the page.
        """
        language = language_at(page, position["line"])
        server = self._server(page.root, language)
        if server is None:
            return None
        known = self._knowledge.of(page.root)
        projection = await trio.to_thread.run_sync(project, page, language, known)
        document = {"uri": projection.uri}
        params = {"textDocument": document, "position": projection.there(position), **more}
        server.pages[projection.uri] = page.uri, projection
        try:
            await _show(server, projection.file, projection.text)
            result = await server.process.request(method, params)
        except (ConnectionLost, JsonRpcException):
            return None
        return back(result, RequestContext(projection, server.pages))

    async def resolve(self, page: ParsedPage, item: dict[str, Any]) -> Any:
        """Return a completion item of the server of a language with all that it knows of it."""
        server = self._servers.get((page.root, item["data"]["fx"]))
        if server is None:
            return None
        plain = {**item, "data": item["data"]["of"]}
        try:
            return await server.process.request("completionItem/resolve", plain)
        except (ConnectionLost, JsonRpcException):
            return None

    async def diagnose(self, root: Path, file: Path, text: str) -> list[dict[str, Any]] | None:
        """Return the mistakes that fxtrio's own TypeScript finds in a file with another text.

        None when it does not support the request, or does not answer.
        """
        is_own = self.commands.get("typescript") is None
        server = self._server(root, "typescript") if is_own else None
        if server is None:
            return None
        params = {"textDocument": {"uri": file.as_uri()}}
        try:
            await _show(server, file, text)
            found = await server.process.request("textDocument/diagnostic", params)
        except (ConnectionLost, JsonRpcException):
            return None
        return [one for one in found.get("items", ()) if one.get("severity") == _ERROR]

    def files_changed(self, root: Path, files: Iterable[Path]) -> None:
        """Tell the server of TypeScript that files on the disk may be others now, or new."""
        server = self._servers.get((root, "typescript"))
        if server is not None:
            uris = [file.as_uri() for file in files]
            changes = [{"uri": uri, "type": kind} for uri in uris for kind in _CHANGED_OR_CAME]
            server.process.notify("workspace/didChangeWatchedFiles", {"changes": changes})

    def _server(self, root: Path, language: Language) -> _Server | None:
        found = self._servers.get((root, language))
        command = self.commands.get(language)
        if command is None and language == "typescript":
            command = self._knowledge.typescript_server()
        elif command is None:
            command = self.commands["python"] = find_python_server()
            if not command:
                self._report(ADVICE)
        if found is not None or not command:
            return found
        server = _Server(
            SupervisedProcess(
                f"{Path(command[0]).name} in {root.name}",
                command,
                cwd=root,
                env=python_environment() if language == "python" else None,
                report=self._report,
                greet=lambda peer: _greet(peer, root, server),
                answers=_ANSWERS,
            )
        )
        try:
            self._wanted.send_nowait(server.process)
        except trio.WouldBlock:
            return None
        self._servers[root, language] = server
        return server


async def _show(server: _Server, file: Path, text: str) -> None:
    """Let a server have the text of a half as it is now."""
    uri = file.as_uri()
    async with server.asking:
        await server.process.wait_ready()
        version, before = server.opened.get(uri, (0, None))
        if before == text:
            return
        server.opened[uri] = version + 1, text
        if before is None:
            item = {"uri": uri, "languageId": _IDS[file.suffix], "version": 1}
            server.process.notify("textDocument/didOpen", {"textDocument": {**item, "text": text}})
        else:
            document = {"uri": uri, "version": version + 1}
            params = {"textDocument": document, "contentChanges": [{"text": text}]}
            server.process.notify("textDocument/didChange", params)


async def _greet(peer: TrioProtocol, root: Path, server: _Server) -> None:
    """Tell a server that was just started which project it is for."""
    server.opened.clear()
    uri = root.as_uri()
    markdown = ["markdown", "plaintext"]
    await peer.ask(
        "initialize",
        {
            "processId": None,
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": root.name}],
            "capabilities": {
                "workspace": {
                    "configuration": True,
                    "workspaceFolders": True,
                    "didChangeWatchedFiles": {"dynamicRegistration": True},
                },
                "textDocument": {
                    "diagnostic": {},
                    "hover": {"contentFormat": markdown},
                    "completion": {"completionItem": {"documentationFormat": markdown}},
                    "signatureHelp": {},
                    "definition": {},
                    "references": {},
                    "rename": {"prepareSupport": True},
                },
            },
        },
    )
    peer.notify("initialized", {})


_KNOWN = (
    ("basedpyright-langserver", "--stdio"),
    ("pyright-langserver", "--stdio"),
    ("ty", "server"),
)

ADVICE = (
    "Server halves have no completion of Python itself: install pyright or ty beside fxtrio "
    "('pip install ty'), or set the option 'python'."
)


def find_python_server() -> Sequence[str]:
    """Return the command of a server for Python; () when none is installed.

    One of the Python environment that runs this comes before those on the PATH.
    """
    for folder in (sysconfig.get_path("scripts"), None):
        for name, *words in _KNOWN:
            found = shutil.which(name, path=folder)
            if found is not None:
                return (found, *words)
    return ()


def python_environment() -> dict[str, str]:
    """Return the environment of a server: it looks for packages where this Python has them."""
    return {"VIRTUAL_ENV": sys.prefix, **os.environ}


def python_settings(params: dict[str, Any]) -> list[dict[str, str] | None]:
    """Return what a server asks its editor to have set: which Python has the packages."""
    python = {"pythonPath": sys.executable}
    return [python if one.get("section") == "python" else None for one in params.get("items", [])]


_ANSWERS: dict[str, Callable[[Any], Any]] = {
    "workspace/configuration": python_settings,
    "client/registerCapability": _agreed,
    "client/unregisterCapability": _agreed,
    "window/workDoneProgress/create": _agreed,
}
"""What servers ask their editor."""
