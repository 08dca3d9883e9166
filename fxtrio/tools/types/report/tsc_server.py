"""A running TypeScript: it has read the files before, and reads only those that have changed.

A folder of UI halves is looked at again and again by `fx dev`. The compiler reads all of React's
types each time that it starts; as a language server it has done so already, and is queried about
the files that a change concerns. When it does not answer, the compiler is started after all.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

import attrs
import trio

from fxtrio.errors import Signal
from fxtrio.node import tool_environment
from fxtrio.tools.types.report.compiler import Diagnostic, compile_types, compiler_program
from fxtrio.tools.types.report.rpc_frames import (
    FrameInvalid,
    MessageSource,
    message_bytes,
    read_message,
)

MOST_FAILURES = 3
"""Servers that did not answer before no further one is started (count)."""

_TIMEOUT = 60.0  # seconds for all answers to one look
_SEND_TIMEOUT = 5.0  # seconds
_AT_ONCE = 16
"""Files that one question is about: a look that is given up, since something was saved again, has
the answers to those before (count)."""

_TICK = 50_000_000  # nanoseconds
_ERROR = 1  # severity
_CREATED, _CHANGED, _DELETED = 1, 2, 3
_LANGUAGES = {".jsx": "javascriptreact", ".tsx": "typescriptreact", ".ts": "typescript"}

Stamp = tuple[int, int, int]
_UNKNOWN: Stamp = (0, 0, 0)


class ServerLost(Signal):
    """The server has ended, or does not answer."""


@attrs.define(eq=False)
class TscServer:
    """Compiles folders, one after the other; runs its server in ``nursery``."""

    nursery: trio.Nursery
    failures: int = 0
    _server: _Server | None = None
    _looking: trio.Lock = attrs.field(factory=trio.Lock)
    _folders: dict[Path, _Folder] = attrs.field(factory=dict)
    """As the server that runs now knows them."""

    async def compile(
        self, folder: Path, compiler: Path, changed: frozenset[str] | None = None
    ) -> tuple[Diagnostic, ...]:
        """Return what `compile_types` does. Raises CompilerFailed."""
        async with self._looking:
            if self.failures < MOST_FAILURES:
                try:
                    with trio.fail_after(_TIMEOUT):
                        return await self._look(folder, compiler, changed)
                except (ServerLost, trio.TooSlowError):
                    self.failures += self._server is not None  # and was not stopped on purpose
                    self.stop()
        return await compile_types(folder, compiler)

    def forget(self, files: Iterable[Path] = ()) -> None:
        """Check all halves again: ``files`` that they may import were changed, added or deleted."""
        if self._server is None:
            return
        self._server.changed.update(files)
        for folder in self._folders.values():
            folder.found.clear()

    def stop(self) -> None:
        """End the server: installed packages have changed. The next look starts another one."""
        server, self._server, self._folders = self._server, None, {}
        if server is not None:
            server.scope.cancel("the compiler restarts")

    async def _look(
        self, folder: Path, compiler: Path, changed: frozenset[str] | None
    ) -> tuple[Diagnostic, ...]:
        server = await self._started(folder, compiler)
        known = self._folders.setdefault(folder, _Folder(folder))
        await server.tell_changed()
        concerned = await trio.to_thread.run_sync(known.read, changed)
        for notification in known.news():
            await server.notify(*notification)
        for start in range(0, len(concerned), _AT_ONCE):
            batch = concerned[start : start + _AT_ONCE]
            answers = await server.ask_all(
                "textDocument/diagnostic",
                [{"textDocument": {"uri": (folder / file).as_uri()}} for file in batch],
            )
            for file, answer in zip(batch, answers, strict=True):
                known.found[file] = tuple(_diagnostics(file, answer))
        return tuple(one for file in known.files for one in known.found[file])

    async def _started(self, folder: Path, compiler: Path) -> _Server:
        if self._server is not None and not self._server.scope.cancel_called:
            return self._server
        self._folders = {}
        server = _Server()
        command = [str(compiler_program(compiler)), "--lsp", "--stdio"]
        await self.nursery.start(server.run, command, folder)
        self._server = server
        greeted = False
        try:
            await server.greet(folder)
            greeted = True
        finally:
            if not greeted:
                server.scope.cancel("the compiler has not begun")
        return server


@attrs.define(eq=False)
class _Server:
    """One process. It answers requests while `run` runs."""

    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    """Cancelled when it is of no use any more."""

    changed: set[Path] = attrs.field(factory=set)
    """Files of the project that it has not been notified of."""

    _input: trio.abc.SendStream | None = None
    _sending: trio.Lock = attrs.field(factory=trio.Lock)
    _number: int = 0
    _answers: dict[int, dict[str, Any]] = attrs.field(factory=dict)
    _unanswered: set[int] = attrs.field(factory=set)
    _all_there: trio.Event = attrs.field(factory=trio.Event)

    async def run(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Run the process until it ends, or until `scope` is cancelled."""
        try:
            with self.scope, suppress(OSError):
                process = await trio.lowlevel.open_process(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    cwd=folder,
                    env=tool_environment(),
                )
                assert process.stdin is not None and process.stdout is not None  # pipes
                try:
                    self._input = process.stdin
                    task_status.started()
                    await self._listen(process.stdout)
                finally:
                    process.kill()
                    with trio.CancelScope(shield=True):
                        await process.wait()
                        await trio.aclose_forcefully(process.stdin)
                        await trio.aclose_forcefully(process.stdout)
        finally:
            self.scope.cancel("the compiler has ended")
            self._all_there.set()
            if self._input is None:
                task_status.started()

    async def greet(self, folder: Path) -> None:
        """Begin the conversation. Raises ServerLost."""
        texts = {"diagnostic": {"relatedDocumentSupport": False}}
        watched = {"didChangeWatchedFiles": {"dynamicRegistration": True}}
        capabilities = {"textDocument": texts, "workspace": watched}
        params = {
            "processId": None,
            "rootUri": folder.as_uri(),
            "capabilities": capabilities,
            # Nobody reads what it says unasked, and each save would pay for it.
            "initializationOptions": {"disablePushDiagnostics": True, "logVerbosity": 0},
        }
        await self.ask_all("initialize", [params])
        await self.notify("initialized", {})

    async def tell_changed(self) -> None:
        """Tell it of files that others have written. Raises ServerLost."""
        files, self.changed = self.changed, set()
        events = [
            {"uri": file.as_uri(), "type": kind}
            for file in sorted(files)
            # Whether it came or changed is not known. A change after it came would be dropped.
            for kind in ((_CHANGED, _CREATED) if file.exists() else (_DELETED,))
        ]
        if events:
            await self.notify("workspace/didChangeWatchedFiles", {"changes": events})

    async def notify(self, method: str, params: Any) -> None:
        """Send what has no answer. Raises ServerLost."""
        await self._send({"method": method, "params": params})

    async def ask_all(self, method: str, params: Sequence[Any]) -> list[Any]:
        """Return the results of requests, in their order. Raises ServerLost."""
        numbers = range(self._number, self._number + len(params))
        self._number += len(params)
        self._answers = {}
        for number, one in zip(numbers, params, strict=True):
            self._unanswered.add(number)
            await self._send({"id": number, "method": method, "params": one})
        while self._unanswered and not self.scope.cancel_called:  # by those who were cancelled, too
            self._all_there = trio.Event()
            await self._all_there.wait()
        answers = [self._answers.get(number, {}) for number in numbers]
        if any("result" not in answer for answer in answers):
            raise ServerLost
        return [answer["result"] for answer in answers]

    async def _send(self, message: dict[str, Any]) -> None:
        """Send a whole message, also when this is cancelled."""
        if self._input is None or self.scope.cancel_called:
            raise ServerLost
        with trio.move_on_after(_SEND_TIMEOUT, shield=True) as scope:
            try:
                async with self._sending:
                    await self._input.send_all(message_bytes({"jsonrpc": "2.0", **message}))
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                raise ServerLost from error
        if scope.cancelled_caught:
            self.scope.cancel("the compiler does not read")
            raise ServerLost

    async def _listen(self, output: trio.abc.ReceiveStream) -> None:
        source = MessageSource(output)
        with suppress(FrameInvalid, ServerLost):
            while (message := await read_message(source)) is not None:
                number = message.get("id")
                if "method" not in message:
                    self._take(number, message)
                elif number is not None:
                    await self._send({"id": number, "result": _agreed(message)})

    def _take(self, number: Any, message: dict[str, Any]) -> None:
        if number in self._unanswered:
            self._unanswered.discard(number)
            self._answers[number] = message
            if not self._unanswered:
                self._all_there.set()


@attrs.define(eq=False)
class _Folder:
    """One folder as the server knows it."""

    path: Path
    files: tuple[str, ...] = ()
    """The virtual files, as their settings name them."""

    found: dict[str, tuple[Diagnostic, ...]] = attrs.field(factory=dict)
    """Their names and versions."""

    _stamps: dict[str, Stamp] = attrs.field(factory=dict)
    _texts: dict[str, str] = attrs.field(factory=dict)
    _versions: dict[str, int] = attrs.field(factory=dict)
    """Of the virtual files, which the server has open."""

    _news: list[tuple[str, dict[str, Any]]] = attrs.field(factory=list)

    def read(self, written: Collection[str] | None) -> list[str]:
        """Read what has changed; return the virtual files that have to be looked at.

        Of files that are known, ``written`` are those that may have; None when any may.
        """
        listed = json.loads((self.path / "tsconfig.json").read_bytes())["files"]
        self.files = tuple(file for file in listed if not file.startswith("/"))
        known = set(self._texts)
        there = {*self.files, *self._others()}
        looked_at = there if written is None else there - known | there.intersection(written)
        changed = {file for file in sorted(looked_at) if self._is_other(file)}
        deleted = known - there
        for file in deleted:
            del self._stamps[file], self._texts[file]
            self.found.pop(file, None)
        # For an open file the edit itself is sent, which needs no new program.
        disk = changed - known, (changed & known) - set(self.files), deleted
        events = [
            {"uri": self._uri(file), "type": kind}
            for kind, those in zip((_CREATED, _CHANGED, _DELETED), disk, strict=True)
            for file in sorted(those)
        ]
        if events:
            self._news.append(("workspace/didChangeWatchedFiles", {"changes": events}))
        for file in sorted(changed & set(self.files)):
            self._show(file)
        halves = set(self.files) | self._versions.keys()
        for file in sorted(deleted & self._versions.keys()):
            self._hide(file)
        if (changed | deleted) - halves:  # a declaration
            self.found.clear()
        names = [
            f"/{PurePosixPath(file).stem}{mark}" for file in changed | deleted for mark in "\"'"
        ]
        concerned = [
            file
            for file in self.files
            if file not in self.found
            or file in changed
            or any(name in self._texts[file] for name in names)  # it may import that page file
        ]
        for file in concerned:  # until there is an answer, which may never come
            self.found.pop(file, None)
        return concerned

    def _is_other(self, file: str) -> bool:
        """Return whether the text of a file is another one than before; read it then."""
        stamp = _stamp(f"{self.path}/{file}")
        if self._stamps.get(file) == stamp:
            return False
        text = (self.path / file).read_text("utf-8", "surrogatepass")
        is_other = self._texts.get(file) != text
        # Within one tick of the clock of the file system, two texts may have one stamp.
        is_fresh = time.time_ns() - stamp[0] < _TICK
        self._stamps[file] = _UNKNOWN if is_fresh else stamp
        self._texts[file] = text
        return is_other

    def news(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the notifications that the server has not had yet."""
        while self._news:
            yield self._news.pop(0)

    def _others(self) -> list[str]:
        """Return the declarations, and the settings."""
        with os.scandir(self.path) as entries:
            names = (entry.name for entry in entries)
            return sorted(name for name in names if name.endswith((".d.ts", "g.json")))

    def _show(self, file: str) -> None:
        text = self._texts[file]
        is_open = file in self._versions
        version = self._versions[file] = self._versions.get(file, 0) + 1
        document: dict[str, Any] = {"uri": self._uri(file), "version": version}
        if is_open:
            params = {"textDocument": document, "contentChanges": [{"text": text}]}
            self._news.append(("textDocument/didChange", params))
        else:
            document |= {"languageId": _LANGUAGES[PurePosixPath(file).suffix], "text": text}
            self._news.append(("textDocument/didOpen", {"textDocument": document}))

    def _hide(self, file: str) -> None:
        del self._versions[file]
        document = {"uri": self._uri(file)}
        self._news.append(("textDocument/didClose", {"textDocument": document}))

    def _uri(self, file: str) -> str:
        return (self.path / file).as_uri()


def _stamp(file: str) -> Stamp:
    found = os.lstat(file)
    return found.st_mtime_ns, found.st_size, found.st_ino


def _agreed(message: dict[str, Any]) -> Any:
    """Return the answer to what a server asks its editor: there are no settings."""
    if message["method"] == "workspace/configuration":
        return [None for _ in message["params"].get("items", ())]
    return None


def _diagnostics(file: str, answer: dict[str, Any]) -> Iterator[Diagnostic]:
    for one in answer.get("items", ()):
        if one.get("severity") == _ERROR:
            message, *details = one["message"].split("\n")
            start = one["range"]["start"]
            yield Diagnostic(
                file,
                start["line"] + 1,
                start["character"] + 1,
                int(one["code"]),
                message,
                tuple(line.strip() for line in details),
            )
