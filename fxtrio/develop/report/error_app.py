"""The page that stands in for an app that cannot be built or does not start.

Pages of the app that are open keep what they show: they learn of the failure by their WebSocket.
"""

from __future__ import annotations

import json
import re
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from html import escape
from importlib.resources import files
from pathlib import Path

import trio
from starlette.types import ASGIApp, Receive, Scope, Send

from fxtrio.config import Config
from fxtrio.develop.processes.messages import GRACE
from fxtrio.develop.processes.server_child import Failure, Served
from fxtrio.develop.report.overlay_errors import overlay_stop
from fxtrio.develop.serving.allowed_hosts import development_app
from fxtrio.serve.pages.html.own_document import message_document
from fxtrio.server.supervise.hypercorn_config import make_config
from fxtrio.server.supervise.listening.binding import grouped
from fxtrio.server.supervise.options import ServeOptions
from fxtrio.server.supervise.server import run_server

_RELOADS = "This page reloads when you save a file that corrects the error."
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@asynccontextmanager
async def open_overlay(
    listener: socket.socket, failure: Failure, *, root: Path, settings: Config, host: str
) -> AsyncIterator[Served]:
    """Answer every request with a page about ``failure`` for as long as the block lasts."""
    stand_in = StandIn(failure, root)
    page = overlay_app(failure, f"{settings.base_url}/_fx/@hot", stand_in.id)
    app = development_app(page, settings, modules=stand_in, host=host, entry=False)
    config = make_config(ServeOptions(app="", log_level="ERROR", graceful=GRACE))
    stop = trio.Event()
    with listener.dup() as copy:
        sockets = grouped([copy], tls=False)
        async with trio.open_nursery() as nursery:
            await nursery.start(partial(run_server, app, config, sockets=sockets, stop=stop))
            yield Served()
            stop.set()


def overlay_app(failure: Failure, hot: str = "", id: str = "") -> ASGIApp:
    """Return an ASGI app that answers every request with a page about ``failure``.

    The page reloads itself when the WebSocket at the URL path ``hot`` is not that of the
    `StandIn` with this ``id`` any more. Its script is within it: a file of its own might be
    requested from whatever has taken its place.
    """
    code = (files("fxtrio.develop.report") / "standin.js").read_text("utf-8")
    script = f'<script data-hot="{escape(hot)}" data-failure="{id}">{code}</script>'
    body = (failure_document(failure.title, failure.details) + script).encode()
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
    ]

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _answer_lifespan(receive, send)
        elif scope["type"] == "http":
            await send({"type": "http.response.start", "status": 500, "headers": headers})
            await send({"type": "http.response.body", "body": body})
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1013})

    return answer


def failure_document(title: str, details: str) -> str:
    """Return the HTML of a page about a failure, whose details may have colours of a terminal."""
    style = (files("fxtrio.develop.report") / "overlay.css").read_text("utf-8")
    text = escape(_COLOURS.sub("", details).strip())
    content = f'<pre tabindex="0">{text}</pre>\n<small>{_RELOADS}</small>\n'
    return message_document("FX DEV", title, content, style=style)


class StandIn:
    """Has no modules; tells open pages why (`fxtrio.develop.serving.dev_app.Hot`)."""

    def __init__(self, failure: Failure, root: Path) -> None:
        """``failure`` is what the pages of the project in ``root`` show."""
        details = _COLOURS.sub("", failure.details).strip()
        problem = overlay_stop(failure.title, details, root)
        self.id = secrets.token_hex(8)
        message = {"type": "custom", "event": "fx:problems", "data": [problem], "failure": self.id}
        self._message = json.dumps(message)
        self._closing = trio.Event()

    def close(self) -> None:
        """End the WebSockets; browsers connect to whatever comes."""
        self._closing.set()

    async def answer(self, scope: Scope, send: Send) -> None:
        """Answer that there is nothing."""
        headers = [(b"content-length", b"0"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 503, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async def connect(self, receive: Receive, send: Send) -> None:
        """Send one browser the failure, and hold the connection until that is over."""
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": self._message})
        async with trio.open_nursery() as nursery:

            async def wait_closing() -> None:
                await self._closing.wait()
                nursery.cancel_scope.cancel("something else is served")

            nursery.start_soon(wait_closing)
            while (await receive())["type"] != "websocket.disconnect":
                pass
            nursery.cancel_scope.cancel("the browser has left")
        await send({"type": "websocket.close", "code": 1012})


async def _answer_lifespan(receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})
