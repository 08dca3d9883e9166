"""What browsers load during development: passed on to the Node process, in which Vite runs.

Two sockets of one folder: `http`, which speaks HTTP, and `hot`, with a connection of lines for
each browser's WebSocket. Runs in the child of `fx dev`.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import h11
import msgspec
import trio
from starlette.types import Receive, Scope, Send

from fxtrio.develop.processes.line_stream import read_lines
from fxtrio.develop.report.request_logs import Follower, Records
from fxtrio.develop.vite.runtime_files import HEADERS, RuntimeFiles
from fxtrio.ssr.attached_renderer import connect

_PASSED: Final = frozenset({b"accept", b"if-none-match", b"sec-fetch-dest", b"referer"})
_OF_THE_LINK: Final = frozenset(
    {b"connection", b"transfer-encoding", b"content-length", b"keep-alive", b"date", b"vary"}
)
_READ: Final = 256 * 1024
_MOST_IDLE: Final = 16  # connections that wait for the next request
_GOING_AWAY: Final = 1012  # the server process is about to be another one

_OWN: Final = '"fx:own"'

Headers = Sequence[tuple[bytes, bytes]]


class _Named(msgspec.Struct):
    request: str


class _Own(msgspec.Struct):
    data: _Named
    event: Literal["fx:own"]


class Modules:
    """Answers requests for modules, and the WebSocket that tells of updates."""

    def __init__(self, folder: Path, records: Records, runtime: RuntimeFiles) -> None:
        """``folder`` holds the sockets on which Node listens."""
        self._folder = folder
        self._records = records
        self._runtime = runtime
        self._idle: list[trio.SocketStream] = []
        self._connected: set[trio.CancelScope] = set()
        self._closing = False

    def close(self) -> None:
        """End the WebSockets, which would hold up a shutdown; browsers reconnect."""
        self._closing = True
        for handling in self._connected:
            handling.cancel("the server ends")

    async def answer(self, scope: Scope, send: Send) -> None:
        """Send a file of the runtime, or pass a GET or HEAD on, and its answer back."""
        query = scope["query_string"]
        file = None if query else await self._runtime.read(scope["path"])
        if file is not None:
            await _send(scope, send, 200, list(HEADERS), file)
            return
        target = scope["raw_path"] + (b"?" + query if query else b"")
        headers = [pair for pair in scope["headers"] if pair[0] in _PASSED]
        try:
            status, back, body = await self._fetch(target, headers)
        except (OSError, trio.BrokenResourceError, h11.RemoteProtocolError):
            status, back, body = 502, [], b"fx dev: the bundler is being started. Try again.\n"
        passed = [pair for pair in back if pair[0].lower() not in _OF_THE_LINK]
        await _send(scope, send, status, passed, body)

    async def connect(self, receive: Receive, send: Send) -> None:
        """Let a browser learn of updates, until it or Node leaves."""
        await receive()
        if self._closing:
            await send({"type": "websocket.close", "code": _GOING_AWAY})
            return
        try:
            link = await trio.open_unix_socket(self._folder / "hot")
        except OSError:  # Node is being started
            await send({"type": "websocket.close", "code": _GOING_AWAY})
            return
        await send({"type": "websocket.accept"})
        one_at_a_time = trio.Lock()

        async def tell(text: str) -> None:
            async with one_at_a_time:
                await send({"type": "websocket.send", "text": text})

        await tell(_process_message())
        async with link, trio.open_nursery() as nursery:
            self._connected.add(nursery.cancel_scope)
            try:
                with self._records.follower() as (follower, messages):
                    nursery.start_soon(_pass_on, receive, link, follower, nursery.cancel_scope)
                    nursery.start_soon(_tell_messages, messages, tell)
                    async for line in read_lines(link):
                        await tell(line.decode())
                    nursery.cancel_scope.cancel("Node has left")  # before the messages end
            finally:
                self._connected.discard(nursery.cancel_scope)
        with trio.move_on_after(1, shield=True):
            await send({"type": "websocket.close", "code": _GOING_AWAY})

    async def _fetch(self, target: bytes, headers: Headers) -> tuple[int, Headers, bytes]:
        """Return status, headers and body. A pooled connection may turn out to be closed."""
        while self._idle:
            stream = self._idle.pop()
            try:
                return await self._exchange(stream, target, headers)
            except (trio.BrokenResourceError, h11.RemoteProtocolError):
                await trio.aclose_forcefully(stream)
        link = await connect(self._folder / "http")
        stream = trio.SocketStream(trio.socket.from_stdlib_socket(link))
        return await self._exchange(stream, target, headers)

    async def _exchange(
        self, stream: trio.SocketStream, target: bytes, headers: Headers
    ) -> tuple[int, Headers, bytes]:
        connection = h11.Connection(our_role=h11.CLIENT)
        request = h11.Request(
            method="GET", target=target, headers=[(b"host", b"localhost"), *headers]
        )
        done = False
        try:
            head = connection.send(request) or b""
            await stream.send_all(head + (connection.send(h11.EndOfMessage()) or b""))
            status, back, parts = 502, [], list[bytes]()
            while True:
                event = connection.next_event()
                if event is h11.NEED_DATA:
                    connection.receive_data(await stream.receive_some(_READ))
                elif isinstance(event, h11.Response):
                    status, back = event.status_code, list(event.headers)
                elif isinstance(event, h11.Data):
                    parts.append(bytes(event.data))
                elif isinstance(event, h11.EndOfMessage):
                    break
                else:
                    raise h11.RemoteProtocolError("it has closed the connection")
            done = connection.our_state is h11.DONE and connection.their_state is h11.DONE
            return status, back, b"".join(parts)
        finally:
            if done and len(self._idle) < _MOST_IDLE:
                self._idle.append(stream)
            else:
                await trio.aclose_forcefully(stream)


async def _send(
    scope: Scope, send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes
) -> None:
    headers.append((b"content-length", b"%d" % len(body)))
    headers.append((b"x-content-type-options", b"nosniff"))
    head = scope["method"] == "HEAD"
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if head else body})


def _process_message() -> str:
    """Return what tells a browser which process it is connected to."""
    message = {"type": "custom", "event": "fx:process", "data": {"id": str(os.getpid())}}
    return msgspec.json.encode(message).decode()


async def _tell_messages(
    messages: trio.MemoryReceiveChannel[dict[str, Any]], tell: Callable[[str], Awaitable[None]]
) -> None:
    """Tell a browser what this process says to it, until the channel is closed."""
    async for message in messages:
        await tell(msgspec.json.encode(message).decode())


async def _pass_on(
    receive: Receive, link: trio.SocketStream, follower: Follower, handling: trio.CancelScope
) -> None:
    """Send what a browser says to Node, until the browser leaves; its requests stay here."""
    while (message := await receive())["type"] != "websocket.disconnect":
        text = message.get("text")
        own = _own_request(text) if text else None
        if own is not None:
            follower.follow(own)
        elif text and "\n" not in text:
            try:
                await link.send_all(f"{text}\n".encode())
            except trio.BrokenResourceError:
                break
    handling.cancel("the browser has left")


def _own_request(text: str) -> str | None:
    """Return the id of a request of a browser's message; None for other messages."""
    if _OWN not in text:
        return None
    try:
        return msgspec.json.decode(text, type=_Own).data.request
    except msgspec.DecodeError:
        return None
