"""One editor: what it asks is handed to whoever answers, between ``initialize`` and ``exit``.

Started by `stdio`.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import attrs
import trio

from fxtrio.compile.problems import Problem
from fxtrio.lsp.analyst import Analyst
from fxtrio.lsp.answers import Answers
from fxtrio.lsp.checking import Checking
from fxtrio.lsp.completion import TRIGGERS
from fxtrio.lsp.diagnostics import Diagnostic
from fxtrio.lsp.documents import Document, Documents, path_of
from fxtrio.lsp.knowledge import Knowledge
from fxtrio.lsp.other_servers import OtherServers
from fxtrio.lsp.places import Position, position_in
from fxtrio.lsp.rpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Answer,
    ConnectionLost,
    RequestRefused,
    RpcPeer,
)
from fxtrio.lsp.views import Views
from fxtrio.lsp.whole import check_whole

NOT_INITIALIZED = -32002

MOST_LINES = 100
"""Lines that wait to be shown in the editor's log; more are dropped (count)."""

WATCHED = "**/*.{fxl,py,js,jsx,mjs,ts,tsx,json,env}"
"""Files whose changes outside of the editor are worth a new check."""

log = logging.getLogger("fx.lsp")


@attrs.frozen
class Options:
    """What an editor may set, as ``initializationOptions``."""

    imports: bool = True
    """Whether the project's Python code is imported, as `fx check` does."""

    python: tuple[str, ...] = ()
    """How to start a language server for Python; () for none."""

    typescript: tuple[str, ...] | None = None
    """How to start a language server for TypeScript; () for none, None for fxtrio's own."""


class EditorSession:
    """Answers one editor. `run` it beside the connection."""

    def __init__(self, connection: RpcPeer) -> None:
        self.documents = Documents()
        self.analyst = Analyst(self.report)
        self.views = Views(self.documents, self.analyst)
        self._knowledge = Knowledge(self.report, self._take)
        self._others = OtherServers(self.report, self._knowledge)
        self._answers = Answers(
            self.documents, self.views, self.analyst, self._knowledge, self._others
        )
        self.checking = Checking(
            self.documents,
            self.views,
            self.analyst,
            publish=self._publish,
            check_whole=self._check_whole,
        )
        self.ended = trio.CancelScope()
        """Cancelled by ``exit``."""

        self.was_shut_down = False
        self._connection = connection
        self._options = Options()
        self._initialized = False
        self._watches = False
        self._lines, self._waiting_lines = trio.open_memory_channel[str](MOST_LINES)
        self._ready = trio.Event()
        self._uris: dict[Path, str] = {}

    def report(self, line: str) -> None:
        """Show a line in the editor's log."""
        try:
            self._lines.send_nowait(line)
        except trio.WouldBlock:
            log.warning("%s", line)

    async def run(self) -> None:
        """Do what nobody waits for, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._show_lines, name="lsp.log")
            await self._ready.wait()
            nursery.start_soon(self.analyst.run, name="lsp.analyst")
            nursery.start_soon(self.checking.run, name="lsp.checking")
            nursery.start_soon(self._knowledge.run, name="lsp.knowledge")
            nursery.start_soon(self._others.run, name="lsp.others")
            if self._watches:
                nursery.start_soon(self._watch, name="lsp.watch")

    # What comes in ---------------------------------------------------------------------------

    def requested(self, method: str, params: Any) -> Answer:
        """Return what answers a request."""
        if method == "initialize":
            return partial(_give, self._initialize(params))
        if not self._initialized:
            raise RequestRefused(NOT_INITIALIZED, "the editor has not sent 'initialize'")
        if self.was_shut_down:
            raise RequestRefused(INVALID_REQUEST, "the server is shut down")
        if method == "shutdown":
            self.was_shut_down = True
            return partial(_give, None)
        return self._question(method, params)

    def _question(self, method: str, params: Any) -> Answer:
        """Return what answers a question about a place, in the text as it is now."""
        questions: dict[str, Callable[[Document, Position], Awaitable[Any]]] = {
            "textDocument/completion": self._answers.completion,
            "textDocument/hover": self._answers.hover,
            "textDocument/definition": self._answers.definition,
            "textDocument/references": self._answers.references,
            "textDocument/signatureHelp": self._answers.signature,
            "textDocument/prepareRename": self._answers.prepare_rename,
        }
        if method == "completionItem/resolve":
            return self._resolve(params)
        if method not in questions and method != "textDocument/rename":
            raise RequestRefused(METHOD_NOT_FOUND, f"{method} is not answered")
        document = self.documents.at(params)
        position = position_in(params)
        if method == "textDocument/rename":
            return partial(self._answers.rename, document, position, str(params.get("newName")))
        return partial(questions[method], document, position)

    def _resolve(self, item: Any) -> Answer:
        """Return what tells more of an item of a completion."""
        data = _inner(item, "data")
        if "fx" not in data:
            return partial(_give, item)
        document = self.documents.at({"textDocument": data})
        return partial(self._answers.resolve, document, item)

    def notified(self, method: str, params: Any) -> None:
        """Take a notification."""
        if method == "exit":
            self.ended.cancel("the editor has sent 'exit'")
        elif self._initialized and method in self._notifications:
            try:
                self._notifications[method](self, params)
            except RequestRefused as refused:  # of a file that is on no disk, say
                log.info("%s: %s", method, refused)

    def _initialize(self, params: Any) -> dict[str, Any]:
        if not isinstance(params, dict):
            raise RequestRefused(INVALID_PARAMS, "initialize has no parameters")
        self._initialized = True
        self._options = _options(params.get("initializationOptions"))
        self._knowledge.imports = self._options.imports
        self._others.commands = {
            "python": self._options.python,
            "typescript": self._options.typescript,
        }
        self.views.folders = _folders(params)
        files = _inner(params, "capabilities", "workspace", "didChangeWatchedFiles")
        self._watches = bool(files.get("dynamicRegistration"))
        return {
            "capabilities": {
                "positionEncoding": "utf-16",
                "textDocumentSync": {"openClose": True, "change": 2, "save": True},
                "completionProvider": {"triggerCharacters": TRIGGERS, "resolveProvider": True},
                "signatureHelpProvider": {"triggerCharacters": ["(", ","]},
                "hoverProvider": True,
                "definitionProvider": True,
                "referencesProvider": True,
                "renameProvider": {"prepareProvider": True},
            },
            "serverInfo": {"name": "fx lsp", "version": version("fxtrio")},
        }

    def _began(self, params: Any) -> None:
        self._ready.set()

    def _opened(self, params: Any) -> None:
        document = self.documents.opened(params)
        self._uris[document.file] = document.uri
        root = self.views.root_of(document.file)
        if not self.checking.knows(root):
            self._refresh(root)
        self.checking.changed(document.file)

    def _refresh(self, root: Path) -> None:
        """Find out anew all about a project."""
        self.checking.saved(root)
        self._knowledge.refresh(root)

    def _changed(self, params: Any) -> None:
        self.checking.changed(self.documents.changed(params).file)

    def _closed(self, params: Any) -> None:
        file = self.documents.closed(params)
        self.views.forget(file)
        self.checking.changed(file)

    def _saved(self, params: Any) -> None:
        self._refresh(self.views.root_of(self.documents.at(params).file))

    def _files_changed(self, params: Any) -> None:
        open_files = {document.file for document in self.documents}
        changed = {path_of(one["uri"]) for one in params["changes"]}
        for root in {self.views.root_of(file) for file in changed - open_files}:
            if self.checking.knows(root):
                self._refresh(root)

    _notifications: dict[str, Callable[[EditorSession, Any], None]] = {
        "initialized": _began,
        "textDocument/didOpen": _opened,
        "textDocument/didChange": _changed,
        "textDocument/didClose": _closed,
        "textDocument/didSave": _saved,
        "workspace/didChangeWatchedFiles": _files_changed,
    }

    # What goes out ---------------------------------------------------------------------------

    async def _publish(self, file: Path, version: int | None, found: list[Diagnostic]) -> None:
        uri = self._uris.get(file) or file.as_uri()
        params: dict[str, Any] = {"uri": uri, "diagnostics": found}
        if version is not None:
            params["version"] = version
        await self._notify("textDocument/publishDiagnostics", params)

    async def _check_whole(self, root: Path) -> Any:
        return await check_whole(root, static=not self._options.imports, report=self.report)

    async def _take(self, root: Path, kind: str, found: list[Problem]) -> None:
        await self.checking.take(root, kind, found)

    async def _show_lines(self) -> None:
        async for line in self._waiting_lines:
            await self._notify("window/logMessage", {"type": 3, "message": line})

    async def _watch(self) -> None:
        """Ask the editor to tell of files that other programs change."""
        watch = {"watchers": [{"globPattern": WATCHED}]}
        method = "workspace/didChangeWatchedFiles"
        registration = {"id": "fx", "method": method, "registerOptions": watch}
        try:
            await self._connection.request(
                "client/registerCapability", {"registrations": [registration]}
            )
        except (RequestRefused, ConnectionLost) as error:
            self.report(f"Files that other programs change are not seen: {error}")

    async def _notify(self, method: str, params: Any) -> None:
        try:
            await self._connection.notify(method, params)
        except ConnectionLost:
            self.ended.cancel("the editor is gone")


async def _give(result: Any) -> Any:
    await trio.lowlevel.checkpoint()
    return result


def _inner(params: Any, *keys: str) -> dict[str, Any]:
    """Return what lies at a path of keys; {} when it is no object."""
    for key in keys:
        params = params.get(key) if isinstance(params, dict) else None
    return params if isinstance(params, dict) else {}


def _options(given: Any) -> Options:
    if not isinstance(given, dict):
        return Options()
    imports = given.get("imports")
    return Options(
        imports if isinstance(imports, bool) else True,
        _words(given.get("python")) or (),
        _words(given.get("typescript")),
    )


def _words(given: Any) -> tuple[str, ...] | None:
    """Return a command; None when none is set."""
    return tuple(map(str, given)) if isinstance(given, list) else None


def _folders(params: dict[str, Any]) -> tuple[Path, ...]:
    """Return the folders that the editor has open, the inner ones first."""
    folders = params.get("workspaceFolders") or []
    uris = [one.get("uri") for one in folders if isinstance(one, dict)] or [params.get("rootUri")]
    found = {path_of(uri) for uri in uris if isinstance(uri, str) and uri.startswith("file:")}
    return tuple(sorted(found, key=lambda folder: len(folder.parts), reverse=True))
