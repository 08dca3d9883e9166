"""JSON-RPC over a pair of streams: to the editor, and to each process that answers for it.

Requests of the other side are answered side by side, each in a task that
``$/cancelRequest`` ends; its notifications are taken in their order.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any, Protocol

import attrs
import trio

from fxtrio.errors import FxtrioError
from fxtrio.lsp.wire import Malformed, Message, MessageReader, encode

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
SERVER_CANCELLED = -32802
REQUEST_FAILED = -32803

MOST_REQUESTS = 100
"""Requests that are answered at a time; more are refused (count)."""

SEND_TIMEOUT = 10.0
"""How long the other side may read nothing before the connection is given up (seconds)."""

CANCEL_TIMEOUT = 1.0
"""How long telling the other side takes that an answer is not wanted any more (seconds)."""

_CHUNK = 65536

log = logging.getLogger("fx.lsp")


class RequestRefused(FxtrioError):
    """A request is answered with an error, by either side."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class ConnectionLost(FxtrioError):
    """The other side is gone, or does not read any more."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name}: it has ended or does not answer.")
        self.name = name


Answer = Callable[[], Awaitable[Any]]


class Handler(Protocol):
    """Answers what comes in. Both are called at once, in the order of the messages."""

    def requested(self, method: str, params: Any) -> Answer:
        """Return what makes the result; it runs in a task of its own.

        Raises RequestRefused, as the answer may.
        """

    def notified(self, method: str, params: Any) -> None:
        """Take a notification."""


@attrs.define
class _Waiting:
    """A request that was sent, and its answer when there is one."""

    done: trio.Event = attrs.field(factory=trio.Event)
    answer: Message | None = None


class RpcPeer:
    """The other side of one connection. Valid while `run` runs; ``name`` stands in messages."""

    def __init__(
        self, name: str, receive: trio.abc.ReceiveStream, send: trio.abc.SendStream
    ) -> None:
        self.name = name
        self._receive = receive
        self._send = send
        self._sending = trio.Lock()
        self._numbers = count(1)
        self._waiting: dict[int, _Waiting] = {}
        self._running: dict[int | str, trio.CancelScope] = {}
        self._lost = False

    async def run(self, handler: Handler) -> None:
        """Take messages until the other side ends; what is being answered then is cancelled.

        Raises FrameInvalid when its bytes are no messages.
        """
        reader = MessageReader()
        try:
            async with trio.open_nursery() as nursery:
                while data := await self._read():
                    for message in reader.feed(data):
                        await self._take(message, handler, nursery)
                nursery.cancel_scope.cancel("the other side has ended")
        finally:
            self._give_up()

    async def request(self, method: str, params: Any) -> Any:
        """Return the result of a request. Cancelling it cancels it there, too.

        Raises RequestRefused and ConnectionLost.
        """
        number = next(self._numbers)
        waiting = self._waiting[number] = _Waiting()
        try:
            await self.send({"id": number, "method": method, "params": params})
            async with self._cancelled_there(number):
                await waiting.done.wait()
        finally:
            del self._waiting[number]
        if waiting.answer is None:
            raise ConnectionLost(self.name)
        error = waiting.answer.get("error")
        if error is not None:
            raise RequestRefused(error.get("code", REQUEST_FAILED), str(error.get("message", "")))
        return waiting.answer.get("result")

    async def notify(self, method: str, params: Any) -> None:
        """Send a notification. Raises ConnectionLost."""
        await self.send({"method": method, "params": params})

    async def send(self, message: Message) -> None:
        """Send a message as a whole, even when this is cancelled. Raises ConnectionLost."""
        data = encode({"jsonrpc": "2.0", **message})
        async with self._sending:
            if self._lost:
                raise ConnectionLost(self.name)
            with trio.CancelScope(shield=True, deadline=trio.current_time() + SEND_TIMEOUT) as time:
                try:
                    await self._send.send_all(data)
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    self._give_up()
        if time.cancelled_caught:
            self._give_up()
        if self._lost:
            raise ConnectionLost(self.name)

    async def _read(self) -> bytes | bytearray:
        try:
            return await self._receive.receive_some(_CHUNK)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return b""

    def _give_up(self) -> None:
        self._lost = True
        for waiting in self._waiting.values():
            waiting.done.set()

    @asynccontextmanager
    async def _cancelled_there(self, number: int) -> AsyncIterator[None]:
        try:
            yield
        except trio.Cancelled:
            with trio.move_on_after(CANCEL_TIMEOUT, shield=True), suppress(ConnectionLost):
                await self.notify("$/cancelRequest", {"id": number})
            raise

    async def _take(
        self, message: Message | Malformed, handler: Handler, nursery: trio.Nursery
    ) -> None:
        if isinstance(message, Malformed):
            await self._refuse(None, RequestRefused(PARSE_ERROR, message.cause))
        elif "method" not in message:
            self._wake(message)
        elif "id" in message:
            await self._start(message, handler, nursery)
        elif message["method"] == "$/cancelRequest":
            self._cancel(message.get("params"))
        else:
            try:
                handler.notified(message["method"], message.get("params"))
            except Exception:
                log.exception("%s: %s failed", self.name, message["method"])

    def _wake(self, message: Message) -> None:
        number = message.get("id")
        waiting = self._waiting.get(number) if isinstance(number, int) else None
        if waiting is not None:  # else nobody waits any more
            waiting.answer = message
            waiting.done.set()

    def _cancel(self, params: Any) -> None:
        number = params.get("id") if isinstance(params, dict) else None
        scope = self._running.get(number) if isinstance(number, int | str) else None
        if scope is not None:
            scope.cancel("the other side does not want the answer any more")

    async def _start(self, message: Message, handler: Handler, nursery: trio.Nursery) -> None:
        number, method = message["id"], message["method"]
        try:
            if not isinstance(number, int | str) or not isinstance(method, str):
                raise RequestRefused(INVALID_REQUEST, "the id or the method is none")
            if len(self._running) >= MOST_REQUESTS:
                raise RequestRefused(SERVER_CANCELLED, "too many requests at a time")
            answer = handler.requested(method, message.get("params"))
        except Exception as error:
            await self._refuse(number, self._refusal(method, error))
        else:
            scope = self._running[number] = trio.CancelScope()
            nursery.start_soon(self._answer, number, method, answer, scope, name=f"lsp.{method}")

    async def _answer(
        self, number: int | str, method: str, answer: Answer, scope: trio.CancelScope
    ) -> None:
        refused: RequestRefused | None = RequestRefused(REQUEST_CANCELLED, "cancelled")
        result: Any = None
        try:
            with scope:
                try:
                    result = await answer()
                    refused = None
                except Exception as error:
                    refused = self._refusal(method, error)
        finally:
            self._running.pop(number, None)
        if refused is not None:
            await self._refuse(number, refused)
        else:
            with suppress(ConnectionLost):
                await self.send({"id": number, "result": result})

    async def _refuse(self, number: int | str | None, refused: RequestRefused) -> None:
        error = {"code": refused.code, "message": refused.message}
        with suppress(ConnectionLost):
            await self.send({"id": number, "error": error})

    def _refusal(self, method: object, error: Exception) -> RequestRefused:
        """Return the answer for ``error``: an editor goes on after a defect."""
        if isinstance(error, RequestRefused):
            return error
        if isinstance(error, FxtrioError):
            return RequestRefused(REQUEST_FAILED, str(error))
        log.error("%s: %s failed", self.name, method, exc_info=error)
        return RequestRefused(INTERNAL_ERROR, f"{type(error).__name__}: {error}")
