"""pygls on trio: the protocol to the editor, and to each process that answers for it.

pygls reads, checks, hands out and writes messages, and waits for nothing but its streams.
Where it would start a task of asyncio, `TrioProtocol` starts one of trio's, in the nursery of
`serve`; to cancel a request is to cancel that task.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from functools import partial
from threading import Event
from typing import Any
from uuid import uuid4

import trio
from cattrs import Converter
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.client import JsonRPCClient
from pygls.exceptions import JsonRpcException
from pygls.io_ import run_async
from pygls.protocol.json_rpc import (
    JsonRPCNotification,
    JsonRPCProtocol,
    JsonRPCRequestMessage,
    JsonRPCResponseMessage,
)

from fxtrio.errors import FxtrioError, PlacedError
from fxtrio.tools.types.report.rpc_frames import LARGEST_MESSAGE, FrameInvalid, MessageSource

MOST_REQUESTS = 100
"""Requests that are answered at a time; more are rejected (count)."""

log = logging.getLogger("fx.lsp")


SEND_TIMEOUT = 10.0
"""How long the other side may read nothing before the connection is closed (seconds)."""


class ConnectionLost(PlacedError):
    """The other side has exited, or does not read any more."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "it has ended or does not answer")
        self.name = name


def request_failed(cause: str) -> JsonRpcException:
    """Return the error for a valid request that has no answer."""
    return JsonRpcException(cause, types.LSPErrorCodes.RequestFailed)


class _Answer(Future[Any]):
    """What a task makes. Cancelling it cancels the task, and it is cancelled when that ends."""

    def __init__(self) -> None:
        super().__init__()
        self.scope = trio.CancelScope()

    def cancel(self) -> bool:
        self.scope.cancel("the other side does not want the answer any more")
        return True

    async def make(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Await ``coroutine``. Raises nothing: an editor goes on after a defect."""
        try:
            with self.scope:
                self.set_result(await coroutine)
        except Exception as error:
            self.set_exception(error)
        finally:
            if not self.done():
                super().cancel()


class TrioProtocol(JsonRPCProtocol):
    """One connection. What it is sent is answered while `serve` runs.

    A handler that returns a coroutine is called with its message, in the order of messages;
    the coroutine then runs in a task of its own.
    """

    name = "editor"

    def __init__(self, server: Any, converter: Converter) -> None:
        super().__init__(server, converter)
        self.leaving = Event()
        """Set when no message is to be read any more."""

        self._nursery: trio.Nursery | None = None

    async def serve(
        self,
        receive: trio.abc.ReceiveStream,
        send: trio.abc.SendStream,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Take messages until the other side ends; unanswered requests are cancelled.

        Raises FrameInvalid when its bytes are no messages.
        """
        outgoing = MessageSink(send)
        self.set_writer(outgoing)
        invalid: FrameInvalid | None = None
        try:
            async with trio.open_nursery() as nursery:

                async def write() -> None:
                    await outgoing.run()
                    nursery.cancel_scope.cancel("the other side does not read any more")

                self._nursery = nursery
                nursery.start_soon(write, name="lsp.write")
                task_status.started()
                report = self._server.report_server_error
                try:
                    await run_async(self.leaving, MessageSource(receive), self, log, report)
                except FrameInvalid as error:
                    invalid = error
                nursery.cancel_scope.cancel("the other side has ended")
        finally:
            self._nursery = None
            for future in self._request_futures.values():
                if not future.done():
                    future.set_exception(ConnectionLost(self.name))
        if invalid is not None:
            raise invalid

    async def ask(self, method: str, params: Any) -> Any:
        """Return the result of a request. Cancelling it cancels it there, too.

        Raises JsonRpcException for an error response, and ConnectionLost.
        """
        if self._nursery is None:
            raise ConnectionLost(self.name)
        number = str(uuid4())
        answered = trio.Event()
        future = self.send_request(method, params, msg_id=number)
        future.add_done_callback(lambda _: answered.set())
        try:
            await answered.wait()
        except trio.Cancelled:
            self._request_futures.pop(number, None)
            self.notify(types.CANCEL_REQUEST, types.CancelParams(number))
            raise
        if future.cancelled():  # by pygls, when the other side ends the conversation
            raise ConnectionLost(self.name)
        return future.result()

    def plain(self, value: object) -> Any:
        """Return a value of the protocol as JSON has it."""
        return self._converter.unstructure(value)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return a message; an invalid request is rejected."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" in data and isinstance(data.get("id"), int | str):
                self._send_response(data["id"], error=error.to_response_error())
            raise

    def _execute_handler(
        self,
        msg_id: int | str,
        handler: Callable[..., Any],
        callback: Callable[[Future[Any]], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        assert self._nursery is not None  # a message was read
        if inspect.isgeneratorfunction(handler):  # one of pygls: it never waits
            super()._execute_handler(msg_id, handler, callback, args, kwargs)
            self._request_futures.pop(msg_id, None)  # pygls keeps those of notifications
            return
        if len(self._nursery.child_tasks) > MOST_REQUESTS:  # one writes
            code = types.LSPErrorCodes.ServerCancelled
            raise JsonRpcException("too many requests at a time", code)
        answer = _Answer()
        answer.add_done_callback(callback)
        try:
            result = handler(*args or (), **kwargs or {})
        except Exception as error:
            answer.set_exception(error)
            return
        if not inspect.iscoroutine(result):
            answer.set_result(result)
            return
        self._request_futures[msg_id] = answer
        self._nursery.start_soon(answer.make, result, name=f"lsp.{msg_id}")

    def _send_handler_result(self, future: Future[Any], *, msg_id: int | str) -> None:
        error = None if future.cancelled() else future.exception()
        if isinstance(error, FxtrioError):
            error = request_failed(str(error))
        if isinstance(error, JsonRpcException):  # meant: nothing to log
            self._request_futures.pop(msg_id, None)
            self._send_response(msg_id, error=error.to_response_error())
        else:
            super()._send_handler_result(future, msg_id=msg_id)


class _PlainProtocol(TrioProtocol):
    """Messages whose parameters and results are JSON as it was sent."""

    def get_message_type(self, method: str) -> type[Any] | None:
        """Return the type of what pygls reads itself."""
        return types.CancelNotification if method == types.CANCEL_REQUEST else None


class Answerer(JsonRPCClient):
    """The other side of a connection that is no editor. ``name`` stands in messages.

    It may ask what ``answers`` has by method.
    """

    protocol: TrioProtocol

    def __init__(self, name: str, answers: Mapping[str, Callable[[Any], Any]]) -> None:
        super().__init__(_PlainProtocol, _plain_converter)
        self.protocol.name = name
        for method, answer in answers.items():
            self.feature(method)(partial(answer))  # which pygls marks


def _plain_converter() -> Converter:
    converter = get_converter()
    for kind, value in (
        (JsonRPCRequestMessage, "params"),
        (JsonRPCNotification, "params"),
        (JsonRPCResponseMessage, "result"),
    ):
        # Either may be left out for null.
        converter.register_structure_hook(
            kind, lambda found, kind, v=value: kind(**{v: None, **found})
        )
    return converter


class MessageSink:
    """A stream as pygls writes to one: at once, while `run` sends what was written.

    When the other side reads nothing for SEND_TIMEOUT, or so much waits that it cannot be of
    use any more, `run` ends, and later messages are dropped.
    """

    def __init__(self, stream: trio.abc.SendStream) -> None:
        self._stream = stream
        self._unsent = bytearray()
        self._written = trio.Event()
        self._lost = False

    def write(self, data: bytes) -> None:
        """Take a message."""
        if self._lost or len(self._unsent) > LARGEST_MESSAGE:
            self._lost = True
        else:
            self._unsent += data
        self._written.set()

    def close(self) -> None:
        """Leave the stream to its owner."""

    async def run(self) -> None:
        """Send until the other side has exited."""
        while not self._lost:
            await self._written.wait()
            self._written = trio.Event()
            data, self._unsent = self._unsent, bytearray()
            with trio.move_on_after(SEND_TIMEOUT) as time:
                try:
                    await self._stream.send_all(data)
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    self._lost = True
            self._lost = self._lost or time.cancelled_caught
