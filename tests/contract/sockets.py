"""An app that is open already, behind a real socket: of our server, and of Hypercorn's own."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from http.client import parse_headers
from io import BytesIO
from typing import Any, Literal

import attrs
import trio
from hypercorn.config import Config
from hypercorn.trio import serve
from starlette.types import Receive, Scope, Send

from fx.testing import Client
from fxtrio.server.supervise.hypercorn_config import make_config
from fxtrio.server.supervise.listening.binding import Sockets
from fxtrio.server.supervise.options import ServeOptions
from fxtrio.server.supervise.server import run_server

Kind = Literal["fx serve", "hypercorn"]
KINDS: tuple[Kind, ...] = ("fx serve", "hypercorn")
PATIENCE = 60.0

App = Callable[[Scope, Receive, Send], Awaitable[None]]


@attrs.frozen
class Answer:
    """A response as it came over the socket."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@asynccontextmanager
async def open_server(client: Client, kind: Kind) -> AsyncIterator[str]:
    """Serve the app of ``client``, whose lifespan runs, for the block; gives ``host:port``."""
    app = _without_lifespan(client.app)
    stop = trio.Event()
    with trio.fail_after(PATIENCE), ExitStack() as stack:
        async with trio.open_nursery() as nursery:
            if kind == "hypercorn":
                config = Config()
                config.bind = ["127.0.0.1:0"]
                config.accesslog = config.errorlog = None
                start: Any = partial(serve, app, config, shutdown_trigger=stop.wait)  # type: ignore[arg-type]  # Hypercorn types apps its own way
            else:
                listening = socket.create_server(("127.0.0.1", 0))
                listening.setblocking(False)
                stack.callback(listening.close)
                sockets = Sockets([], [listening])
                own = make_config(ServeOptions(app="tests:app"))
                start = partial(run_server, app, own, sockets=sockets, stop=stop)
            (address,) = await nursery.start(start)
            try:
                yield str(address).rpartition("/")[2]
            finally:
                stop.set()


def _without_lifespan(app: App) -> App:
    async def requests_alone(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            raise RuntimeError("the lifespan runs already")
        await app(scope, receive, send)

    return requests_alone


async def ask(
    place: str,
    method: str,
    path: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Answer:
    """Send one request, and return its whole response. Raises EOFError for a cut one."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {place}", "Sec-Fetch-Site: same-origin"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    lines += ["Connection: close", f"Content-Length: {len(body)}", "", ""]
    host, _, port = place.partition(":")
    async with await trio.open_tcp_stream(host, int(port)) as stream:
        await stream.send_all("\r\n".join(lines).encode() + body)
        data = b"".join([part async for part in stream])
    head, found, rest = data.partition(b"\r\n\r\n")
    if not found:
        raise EOFError(f"{method} {path}: the connection was closed without a response")
    start, _, fields = head.partition(b"\r\n")
    status = int(start.split()[1])
    named = {
        name.lower(): value for name, value in parse_headers(BytesIO(fields + b"\r\n\r\n")).items()
    }
    if named.get("transfer-encoding") == "chunked":
        rest = _joined(rest)
    elif (
        method != "HEAD"
        and status != 304
        and len(rest) != int(named.get("content-length", len(rest)))
    ):
        raise EOFError(f"{method} {path}: the body was cut off")
    return Answer(status, named, rest)


def _joined(chunked: bytes) -> bytes:
    body = b""
    while True:
        size, found, rest = chunked.partition(b"\r\n")
        if not found:
            raise EOFError("the body was cut off")
        length = int(size, 16)
        if not length:
            return body
        body += rest[:length]
        chunked = rest[length + 2 :]
