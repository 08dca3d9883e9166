"""One editor: what it asks is handed to whoever answers, between ``initialize`` and ``exit``.

`fx lsp` calls `serve_stdio`.
"""

from __future__ import annotations

import logging
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import attrs
import trio
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from fxtrio.compile.problems import Problem
from fxtrio.tools.lsp.answers.completion import TRIGGERS
from fxtrio.tools.lsp.answers.features import Answers
from fxtrio.tools.lsp.answers.formatting import formatting_edits
from fxtrio.tools.lsp.answers.prepared_formats import PreparedFormats
from fxtrio.tools.lsp.checks.checking import Checking
from fxtrio.tools.lsp.checks.live_types import LiveTypes
from fxtrio.tools.lsp.checks.project_check import check_whole
from fxtrio.tools.lsp.documents.documents import Document, Documents, file_of
from fxtrio.tools.lsp.documents.page_cache import PageCache
from fxtrio.tools.lsp.documents.positions import Position, position_in
from fxtrio.tools.lsp.processes.delegated_servers import DelegatedServers
from fxtrio.tools.lsp.processes.ui_analysis import Analyst
from fxtrio.tools.lsp.processes.warm_prettier import WarmPrettier
from fxtrio.tools.lsp.project_index import ProjectIndex
from fxtrio.tools.lsp.rpc import ConnectionLost
from fxtrio.tools.lsp.server import EditorServer

WATCHED = "**/*.{fxl,py,js,jsx,mjs,ts,tsx,json,env}"
"""Files whose changes outside of the editor are worth a new check."""

CLOSE_TAG = "fx/closeTag"
"""A request about a place, for editors that put the cursor in front of what closes a tag."""

_PAGES = frozenset({".fxl", ".js", ".jsx", ".mjs", ".ts", ".tsx"})
"""Kinds of files that no Python code is in, but that of pages."""

log = logging.getLogger("fx.lsp")

Question = Callable[[Document, Position], Coroutine[Any, Any, Any]]
"""Answers about a place."""


LONGEST_WAIT = 1.0
"""How long a check waits for questions (seconds): one may wait for what a check finds."""


@attrs.frozen
class Options:
    """What an editor may set, as ``initializationOptions``."""

    imports: bool = True
    """Whether the project's Python code is imported, as `fx check` does."""

    python: tuple[str, ...] | None = None
    """How to start a language server for Python; () for none, None for one that is installed."""

    typescript: tuple[str, ...] | None = None
    """How to start a language server for TypeScript; () for none, None for fxtrio's own."""


class EditorSession:
    """Answers one editor. `run` it while its server serves."""

    def __init__(self) -> None:
        self.server = EditorServer()
        self.documents = Documents()
        self.analyst = Analyst(self.report)
        self._questions = Questions()
        self.pages = PageCache(self.documents)
        self._knowledge = ProjectIndex(self.report, self._take)
        self._others = DelegatedServers(self.report, self._knowledge)
        self._answers = Answers(
            self.documents, self.pages, self.analyst, self._knowledge, self._others
        )
        self.checking = Checking(
            self.documents,
            self.pages,
            self.analyst,
            publish=self._publish,
            check_whole=self._check_whole,
            check_types=LiveTypes(self._knowledge, self._others).problems,
            wait_for_turn=self._questions.wait_none,
        )
        self._prettier = WarmPrettier(self.report)
        self._prepared = PreparedFormats(
            self.documents, self.pages.root_of, self._wait_idle, self._prepare_format
        )
        self._options = Options()
        self._watches = False
        self._ready = trio.Event()
        self._uris: dict[Path, str] = {}
        self._listen()
        self._answer()

    def report(self, line: str) -> None:
        """Show a line in the editor's log."""
        self.server.window_log_message(types.LogMessageParams(types.MessageType.Info, line))

    async def run(self) -> None:
        """Do what nobody waits for, until cancelled."""
        await self._ready.wait()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.analyst.run, name="lsp.analyst")
            nursery.start_soon(self.checking.run, name="lsp.checking")
            nursery.start_soon(self._knowledge.run, name="lsp.knowledge")
            nursery.start_soon(self._others.run, name="lsp.others")
            nursery.start_soon(self._prettier.run, name="lsp.prettier")
            nursery.start_soon(self._prepared.run, name="lsp.prepare")
            if self._watches:
                nursery.start_soon(self._watch, name="lsp.watch")

    async def _format(self, document: Document, report: Callable[[str], None]) -> Any:
        root, static = self.pages.root_of(document.file), not self._options.imports
        run = self._prettier.format
        await self.pages.of(document)  # so that the page is divided into its halves once
        return await formatting_edits(document, root, report, static=static, run=run)

    async def _prepare_format(self, document: Document) -> Any:
        return await self._format(document, log.debug)

    async def _wait_idle(self, root: Path) -> None:
        await self._knowledge.wait_checked(root)
        await self._questions.wait_none()

    # What comes in ---------------------------------------------------------------------------

    def _answer(self) -> None:
        """Register what answers a question about a place, in the text as it is now."""
        answers = self._answers
        completion = types.CompletionOptions(trigger_characters=TRIGGERS, resolve_provider=True)
        signature = types.SignatureHelpOptions(trigger_characters=["(", ","])
        self._on_request(types.TEXT_DOCUMENT_COMPLETION, answers.completion, completion)
        self._on_request(types.TEXT_DOCUMENT_SIGNATURE_HELP, answers.signature, signature)
        self._on_request(types.TEXT_DOCUMENT_HOVER, answers.hover)
        self._on_request(types.TEXT_DOCUMENT_DEFINITION, answers.definition)
        self._on_request(types.TEXT_DOCUMENT_REFERENCES, answers.references)
        self._on_request(types.TEXT_DOCUMENT_PREPARE_RENAME, answers.prepare_rename)

        self._on_request(types.TEXT_DOCUMENT_LINKED_EDITING_RANGE, answers.linked_names)
        typing = types.DocumentOnTypeFormattingOptions(">", ["/"])
        self._on_request(types.TEXT_DOCUMENT_ON_TYPE_FORMATTING, answers.closing_edits, typing)

        @self.server.feature(CLOSE_TAG)
        def close_tag(params: Any) -> Any:
            document = self.documents.at(params.textDocument.uri)
            place = {"line": params.position.line, "character": params.position.character}
            return self._questions.answer(answers.close_tag(document, place))

        @self.server.feature(types.TEXT_DOCUMENT_RENAME)
        def rename(params: types.RenameParams) -> Any:
            document = self.documents.at(params.text_document.uri)
            return answers.rename(document, position_in(params.position), params.new_name)

        @self.server.feature(types.TEXT_DOCUMENT_FORMATTING)
        def formatting(params: types.DocumentFormattingParams) -> Any:
            document = self.documents.at(params.text_document.uri)
            return self._questions.answer(self._format(document, self.report))

        @self.server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
        def outline(params: types.DocumentSymbolParams) -> Any:
            return answers.outline(self.documents.at(params.text_document.uri))

        @self.server.feature(types.WORKSPACE_SYMBOL)
        def search(params: types.WorkspaceSymbolParams) -> Any:
            return answers.search(params.query)

        fixes = types.CodeActionOptions([types.CodeActionKind.QuickFix])

        @self.server.feature(types.TEXT_DOCUMENT_CODE_ACTION, fixes)
        def fix(params: types.CodeActionParams) -> Any:
            found = self.server.protocol.plain(params.context.diagnostics)
            return answers.fixes(self.documents.at(params.text_document.uri), found)

        @self.server.feature(types.COMPLETION_ITEM_RESOLVE)
        def resolve(params: types.CompletionItem) -> Any:
            item = self.server.protocol.plain(params)
            data = item.get("data")
            if not isinstance(data, dict) or "fx" not in data:
                return item
            return answers.resolve(self.documents.at(str(data.get("uri"))), item)

    def _on_request(self, method: str, answer: Question, options: Any = None) -> None:
        @self.server.feature(method, options)
        def ask(params: types.TextDocumentPositionParams) -> Coroutine[Any, Any, Any]:
            document = self.documents.at(params.text_document.uri)
            return self._questions.answer(answer(document, position_in(params.position)))

    def _listen(self) -> None:
        """Register what takes notifications."""
        feature = self.server.feature

        @feature(types.INITIALIZE)
        def initialize(params: types.InitializeParams) -> None:
            self._initialize(params)

        @feature(types.INITIALIZED)
        def initialized(params: types.InitializedParams) -> None:
            self._ready.set()

        @feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
        def folders_changed(params: types.DidChangeWorkspaceFoldersParams) -> None:
            self._set_folders()

        @feature(types.TEXT_DOCUMENT_DID_OPEN)
        def opened(params: types.DidOpenTextDocumentParams) -> None:
            self._opened(params.text_document.uri)

        @feature(types.TEXT_DOCUMENT_DID_CHANGE)
        def changed(params: types.DidChangeTextDocumentParams) -> None:
            document = self._newest(params.text_document.uri)
            if document is not None:
                self.checking.changed(document.file)

        @feature(types.TEXT_DOCUMENT_DID_CLOSE)
        def closed(params: types.DidCloseTextDocumentParams) -> None:
            file = self.documents.closed(params.text_document.uri)
            if file is not None:
                self.pages.forget(file)
                self.checking.changed(file)

        @feature(types.TEXT_DOCUMENT_DID_SAVE)
        def saved(params: types.DidSaveTextDocumentParams) -> None:
            file = file_of(params.text_document.uri)
            if file is not None:
                # Other files are seen only where the editor tells of them.
                self._refresh(self.pages.root_of(file), pages_only=self._watches)

        @feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
        def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
            open_files = {document.file for document in self.documents}
            files = {file_of(one.uri) for one in params.changes} - open_files
            by_root = defaultdict[Path, list[Path]](list)
            for file in files:
                if file is not None:
                    by_root[self.pages.root_of(file)].append(file)
            for root, found in by_root.items():
                self._others.files_changed(root, found)
                if self.checking.knows(root):
                    self._refresh(root, pages_only=all(file.suffix in _PAGES for file in found))

    def _initialize(self, params: types.InitializeParams) -> None:
        self._options = _options(params.initialization_options)
        self._knowledge.imports = self._options.imports
        self._others.commands = {
            "python": self._options.python,
            "typescript": self._options.typescript,
        }
        self._set_folders()
        workspace = params.capabilities.workspace
        files = None if workspace is None else workspace.did_change_watched_files
        self._watches = files is not None and bool(files.dynamic_registration)

    def _set_folders(self) -> None:
        """Keep the folders that the editor has open, the inner ones first."""
        workspace = self.server.workspace
        uris = [one.uri for one in workspace.folders.values()] or [workspace.root_uri or ""]
        found = {file for uri in uris if (file := file_of(uri)) is not None}
        self.pages.folders = tuple(
            sorted(found, key=lambda folder: len(folder.parts), reverse=True)
        )

    def _newest(self, uri: str) -> Document | None:
        return self.documents.take(self.server.workspace.get_text_document(uri))

    def _opened(self, uri: str) -> None:
        document = self._newest(uri)
        if document is None:
            return
        self._uris[document.file] = uri
        root = self.pages.root_of(document.file)
        if not self.checking.knows(root):
            self._refresh(root)
        self.checking.changed(document.file)
        self._prepared.opened(document.file)

    def _refresh(self, root: Path, *, pages_only: bool = False) -> None:
        """Analyse a project again; see `ProjectIndex.refresh`."""
        self.analyst.changed(root)
        self.checking.saved(root)
        self._knowledge.refresh(root, pages_only=pages_only)

    # What goes out ---------------------------------------------------------------------------

    def _publish(self, file: Path, version: int | None, found: list[types.Diagnostic]) -> None:
        uri = self._uris.get(file) or file.as_uri()
        self.server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, found, version)
        )

    async def _check_whole(self, root: Path) -> Any:
        return await check_whole(root, static=not self._options.imports, report=self.report)

    async def _take(self, root: Path, kind: str, found: list[Problem]) -> None:
        await self.checking.take(root, kind, found)

    async def _watch(self) -> None:
        """Ask the editor to tell of files that other programs change."""
        watch = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(WATCHED)])
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        params = types.RegistrationParams([types.Registration("fx", method, watch)])
        try:
            await self.server.protocol.ask(types.CLIENT_REGISTER_CAPABILITY, params)
        except (JsonRpcException, ConnectionLost) as error:
            self.report(f"Files that other programs change are not seen: {error}")


def _options(options: Any) -> Options:
    if not isinstance(options, dict):
        return Options()
    imports = options.get("imports")
    return Options(
        imports if isinstance(imports, bool) else True,
        _words(options.get("python")),
        _words(options.get("typescript")),
    )


def _words(options: Any) -> tuple[str, ...] | None:
    """Return a command; None when none is set."""
    return tuple(map(str, options)) if isinstance(options, list | tuple) else None


class Questions:
    """Counts questions."""

    def __init__(self) -> None:
        self._open = 0
        self._none = trio.Event()
        self._none.set()

    async def answer(self, answering: Coroutine[Any, Any, Any]) -> Any:
        """Return an answer; until then `wait_none` waits."""
        if self._open == 0:
            self._none = trio.Event()
        self._open += 1
        try:
            return await answering
        finally:
            self._open -= 1
            if self._open == 0:
                self._none.set()

    async def wait_none(self) -> None:
        """Wait until all questions are answered, for a while at most."""
        with trio.move_on_after(LONGEST_WAIT):
            while self._open:
                await self._none.wait()


async def serve_editor(receive: trio.abc.ReceiveStream, send: trio.abc.SendStream) -> int:
    """Answer an editor until it leaves; returns the exit code that the protocol asks for.

    That is 0 after ``shutdown``, else 1. Raises FrameInvalid when it does not speak the
    protocol.
    """
    session = EditorSession()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(session.run)
        await session.server.protocol.serve(receive, send)
        nursery.cancel_scope.cancel("the editor has left")
    return 0 if session.server.protocol.was_shut_down else 1


async def serve_stdio() -> int:
    """Answer the editor that has started this process; see `serve_editor`.

    Prints go to stderr meanwhile, which editors write to a log.
    """
    sys.stdout.flush()
    receive = trio.lowlevel.FdStream(os.dup(0))
    send = trio.lowlevel.FdStream(os.dup(1))
    os.dup2(2, 1)
    async with receive, send:
        return await serve_editor(receive, send)
