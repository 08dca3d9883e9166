"""A server on a real socket for one test, and a client that sends exactly the bytes of the test.

`open_server` fails the test when the server logs an error that the test did not
ask for, keeps a task or connection, or does not end in time.
"""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Self

import attrs
import trio

from fxtrio.server.http1 import ServerLimits
from fxtrio.server.supervise.hypercorn_config import make_config
from fxtrio.server.supervise.listening.binding import Sockets
from fxtrio.server.supervise.options import ServeOptions
from fxtrio.server.supervise.server import run_server

App = Callable[..., Awaitable[None]]
PATIENCE = 90.0
"""Seconds after which a test that waits for a real socket has failed."""


class Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def take(self, level: int) -> list[logging.LogRecord]:
        """Return the records of ``level`` and above, and forget them."""
        found = [record for record in self.records if record.levelno >= level]
        self.records = [record for record in self.records if record.levelno < level]
        return found


@attrs.define
class Server:
    port: int
    stop: trio.Event
    log: Records
    nursery: trio.Nursery

    async def connect(self) -> Client:
        stream = await trio.open_tcp_stream("127.0.0.1", self.port)
        return Client(stream)

    async def errors(self) -> list[logging.LogRecord]:
        """Wait for the log to have errors, and take them."""
        with trio.fail_after(PATIENCE):
            while not (found := self.log.take(logging.ERROR)):  # noqa: ASYNC110
                await trio.sleep(0.002)
        return found

    async def ask(self, data: bytes) -> bytes:
        """Send ``data``, end our side, and return everything that comes back."""
        async with await self.connect() as client:
            await client.send(data)
            await client.stream.send_eof()
            return await client.read_all()


@attrs.define
class Reply:
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    def get(self, name: bytes) -> bytes | None:
        found = [value for key, value in self.headers if key == name]
        assert len(found) <= 1, f"{name!r} came {len(found)} times"
        return found[0] if found else None


class Client:
    """Reads replies strictly: what is not framed right fails the test."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.buffer = bytearray()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await trio.aclose_forcefully(self.stream)

    async def send(self, data: bytes) -> None:
        await self.stream.send_all(data)

    async def more(self) -> bytes:
        data: bytes = await self.stream.receive_some(65536)
        self.buffer += data
        return data

    async def read_all(self) -> bytes:
        with trio.fail_after(PATIENCE):
            while await self.more():
                pass
        data = bytes(self.buffer)
        self.buffer.clear()
        return data

    async def line(self) -> bytes:
        while b"\r\n" not in self.buffer:
            assert await self.more(), f"the connection ended inside {bytes(self.buffer)!r}"
        line, _, rest = bytes(self.buffer).partition(b"\r\n")
        self.buffer = bytearray(rest)
        return line

    async def exactly(self, count: int) -> bytes:
        while len(self.buffer) < count:
            assert await self.more(), f"{count - len(self.buffer)} bytes are missing"
        data = bytes(self.buffer[:count])
        del self.buffer[:count]
        return data

    async def reply(self, method: str = "GET") -> Reply:
        with trio.fail_after(PATIENCE):
            return await self._reply(method)

    async def _reply(self, method: str) -> Reply:
        version, status, _ = (await self.line()).split(b" ", 2)
        assert version == b"HTTP/1.1"
        headers = []
        while line := await self.line():
            name, _, value = line.partition(b": ")
            headers.append((name, value))
        reply = Reply(int(status), headers, b"")
        length = reply.get(b"content-length")
        if method == "HEAD" or reply.status in (204, 304) or reply.status < 200:
            pass
        elif reply.get(b"transfer-encoding") == b"chunked":
            assert length is None
            reply.body = await self._chunks()
        elif length is not None:
            reply.body = await self.exactly(int(length))
        else:
            reply.body = await self.read_all()
        return reply

    async def _chunks(self) -> bytes:
        body = b""
        while size := int(await self.line(), 16):
            body += await self.exactly(size)
            assert await self.exactly(2) == b"\r\n"
        assert await self.line() == b""
        return body

    async def is_closed(self) -> bool:
        """Wait for the server to close; False when it sends something instead."""
        with trio.fail_after(PATIENCE):
            try:
                return not self.buffer and await self.more() == b""
            except trio.BrokenResourceError:
                return True


def listen() -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", 0))
    listening.listen(1024)
    listening.setblocking(False)
    return listening


@asynccontextmanager
async def open_server(
    app: App,
    *,
    limits: ServerLimits | None = None,
    tls: ssl.SSLContext | None = None,
    lifespan: bool = False,
    **options: Any,
) -> AsyncIterator[Server]:
    """Serve ``app``; with ``lifespan`` it also gets the lifespan's messages."""
    settings = ServeOptions(app="", limits=limits or ServerLimits(), **options)
    config = make_config(settings)
    log = Records()
    logger = logging.Logger("server under test", logging.DEBUG)
    logger.addHandler(log)
    config.errorlog = logger
    listening = listen()
    sockets = Sockets([], [listening])
    if tls is not None:
        sockets = Sockets([listening])
        config.create_ssl_context = lambda: tls  # type: ignore[method-assign]
    stop = trio.Event()
    port = listening.getsockname()[1]
    with listening:  # a test that fails ends the server before it has closed it
        async with trio.open_nursery() as nursery:
            await nursery.start(
                partial(
                    run_server,
                    app if lifespan else Lasting(app),
                    config,
                    sockets=sockets,
                    stop=stop,
                )
            )
            yield Server(port, stop, log, nursery)
            stop.set()
            with trio.fail_after(PATIENCE):
                while nursery.child_tasks:  # noqa: ASYNC110  # a nursery tells nobody
                    await trio.sleep(0.002)
    errors = [(record.getMessage(), record.exc_info) for record in log.take(logging.WARNING)]
    assert errors == []


open_h2c_server = partial(open_server, h2c=True)
"""Like `open_server`, for clients that speak HTTP/2 without TLS."""


class Lasting:
    """Adds a lifespan to an application that has none."""

    def __init__(self, app: App) -> None:
        self._app = app
        self.state = getattr(app, "state", None)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            return await self._app(scope, receive, send)
        for stage in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{stage}.complete"})
        return None


def response(status: int = 200, body: bytes = b"", *headers: tuple[bytes, bytes]) -> App:
    """Return an application that answers every request like this."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"
        await send({"type": "http.response.start", "status": status, "headers": list(headers)})
        await send({"type": "http.response.body", "body": body})

    return app


async def read_body(receive: Any) -> bytes:
    body: bytes = b""
    while True:
        message: dict[str, Any] = await receive()
        if message["type"] != "http.request":
            raise ConnectionError(f"{message['type']} after {len(body)} bytes")
        body += message["body"]
        if not message["more_body"]:
            return body


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answer with the request: method, path, query, and the body."""
    assert scope["type"] == "http"
    body = await read_body(receive)
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [
                (b"x-method", scope["method"].encode()),
                (b"x-path", scope["path"].encode("utf-8", "replace").replace(b"\n", b"")),
                (b"x-query", scope["query_string"]),
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})
