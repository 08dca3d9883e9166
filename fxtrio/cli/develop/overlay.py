"""The page that stands in for an app that cannot be built or does not start."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from string import Template

import attrs
from starlette.types import ASGIApp, Receive, Scope, Send

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@attrs.frozen
class Failure:
    """Why there is no app to serve."""

    title: str
    details: str
    """Plain text, of any number of lines."""


def overlay_app(failure: Failure) -> ASGIApp:
    """Return an ASGI app that answers every request with a page about ``failure``."""
    page = Template((files("fxtrio.cli.develop") / "overlay.html").read_text("utf-8"))
    body = page.substitute(
        title=escape(failure.title), details=escape(_COLOURS.sub("", failure.details).strip())
    ).encode()
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


async def _answer_lifespan(receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})
