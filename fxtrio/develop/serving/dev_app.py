"""An app as `fx dev` serves it: with the modules of its pages, and pages that take updates.

Every HTML document without the entry module gets it: a page about an error is one that is
about to be put right.
"""

from __future__ import annotations

import os
import re
import sys
import time
from types import SimpleNamespace
from typing import Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fxtrio.develop.report.inside import FOLDER, Inside

_NONCE = re.compile(rb"'nonce-([A-Za-z0-9+/=_-]+)'")
_CSP_HEADERS = (b"content-security-policy", b"content-security-policy-report-only")
_CLOCK = time.CLOCK_MONOTONIC_RAW if sys.platform == "darwin" else time.CLOCK_MONOTONIC
"""The one that Node reads as ``process.hrtime``: nobody sets it, unlike that of the day."""

ENTRY = "@id/__x00__virtual:fx/client"
"""What pages of the app begin with, below `/_fx/`."""


class Hot(Protocol):
    """Where browsers get modules from, and learn of updates."""

    def close(self) -> None:
        """End what would hold up a shutdown."""

    async def answer(self, scope: Scope, send: Send) -> None:
        """Answer a GET or HEAD below `/_fx/`."""

    async def connect(self, receive: Receive, send: Send) -> None:
        """Serve one WebSocket."""


class DevelopedApp:
    """Serves ``app`` together with what ``hot`` has for browsers.

    ``entry`` is false for an app whose documents are complete; ``inside`` is None for one of which
    there is nothing to see.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hot: Hot,
        base_url: str,
        entry: bool = True,
        inside: Inside | None = None,
    ) -> None:
        self._app = app
        self._hot = hot
        self.folder = f"{base_url}/_fx/"
        """The path of all modules."""

        self.inside_folder = f"{base_url}{FOLDER}"
        """The path of what developers see of the app."""

        self._inside = inside

        self._entry = f"{self.folder}{ENTRY}".encode() if entry else b""
        self.state = SimpleNamespace(begin_shutdown=self._begin_shutdown)
        """Where the server looks for what to call first at a shutdown."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer for modules and the updates, and let the app answer the rest."""
        kind = scope["type"]
        if kind == "websocket" and scope["path"] == f"{self.folder}@hot":
            await self._hot.connect(receive, send)
        elif kind != "http":
            await self._app(scope, receive, send)
        elif scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, self._timed(send))
        elif scope["path"].startswith(self.folder):
            await self._hot.answer(scope, send)
        elif self._inside is not None and f"{scope['path']}/".startswith(self.inside_folder):
            path = scope["path"][len(self.inside_folder) :]
            await self._inside.answer(scope, receive, send, path)
        elif scope["method"] == "GET" and self._entry:
            await self._app(scope, receive, _EntryAdder(self._timed(send), self._entry).send)
        else:
            await self._app(scope, receive, self._timed(send))

    def _timed(self, send: Send) -> Send:
        """Return a ``send`` that adds where the time of a request went until its response began."""
        inside = self._inside
        if inside is None:
            return send

        async def timed(message: Message) -> None:
            if message["type"] == "http.response.start":
                entries = inside.server_timing()
                if entries:
                    header = (b"server-timing", b", ".join(entries))
                    message = {**message, "headers": [*message.get("headers", ()), header]}
            await send(message)

        return timed

    def _begin_shutdown(self) -> None:
        self._hot.close()
        if self._inside is not None:
            self._inside.close()
        begin = getattr(getattr(self._app, "state", None), "begin_shutdown", None)
        if begin is not None:
            begin()


class _EntryAdder:
    """Adds the entry to the end of one response, if that is HTML without it, and its request."""

    def __init__(self, send: Send, url: bytes) -> None:
        self._send = send
        self._url = url
        self._requested_ms = time.clock_gettime_ns(_CLOCK) // 1_000_000
        self._start: Message | None = None
        """Kept until it is known how long the document is."""

        self._nonce: bytes | None = None
        """None unless it is HTML."""

    async def send(self, message: Message) -> None:
        """Pass one message on, changed where it must be."""
        if message["type"] == "http.response.start":
            self._nonce = _nonce_of(message)
            requested_ms = None if self._nonce is None else self._requested_ms
            message = _with_origin(message, requested_ms)
            if self._nonce is None:
                await self._send(message)
            else:
                self._start = message
        elif message["type"] == "http.response.body" and self._nonce is not None:
            await self._send_body(message, self._nonce)
        else:
            await self._send(message)

    async def _send_body(self, message: Message, nonce: bytes) -> None:
        body = message.get("body", b"")
        if self._url in body:
            self._nonce = None  # it is there: the rest passes as it is
        added = b""
        if self._nonce is not None and not message.get("more_body", False):
            proof = b' nonce="%b"' % nonce if nonce else b""
            added = b'<script type="module" src="%b"%b></script>' % (self._url, proof)
        start, self._start = self._start, None
        if start is not None:
            is_open = self._nonce is not None and message.get("more_body", False)
            await self._send(_longer(start, None if is_open else len(added)))
        await self._send({**message, "body": body + added})


def _with_origin(start: Message, requested_ms: int | None) -> Message:
    """Return the start of a response that tells scripts of a document where it comes from.

    That is the request and the process, since another one may serve when they connect, and when
    the document was requested (``requested_ms`` by `_CLOCK`): all that has changed since then is
    missing in it, however long its scripts take to connect. Responses that are no document
    (None) name their request alone.
    """
    headers = start.get("headers", ())
    timing = [
        b'fx;desc="%b"' % value for name, value in headers if name.lower() == b"x-request-id"
    ][:1]
    if requested_ms is not None:
        timing.append(b'fx-process;desc="%d"' % os.getpid())
        timing.append(b'fx-asked;desc="%d"' % requested_ms)
    if not timing:
        return start
    return {**start, "headers": [*headers, (b"server-timing", b", ".join(timing))]}


def _nonce_of(start: Message) -> bytes | None:
    """Return the nonce of an HTML document, b"" without one; None for anything else."""
    found = {name.lower(): value for name, value in start.get("headers", ())}
    if not found.get(b"content-type", b"").startswith(b"text/html"):
        return None
    if b"content-encoding" in found:
        return None
    nonce = _NONCE.search(b" ".join(found.get(name, b"") for name in _CSP_HEADERS))
    return nonce[1] if nonce else b""


def _longer(start: Message, size: int | None) -> Message:
    """Return the start of a document that is longer by ``size``; None when nobody knows yet."""
    changed = []
    for key, value in start.get("headers", ()):
        name = key.lower()
        if name != b"content-length":
            changed.append((name, value))
        elif size is not None:
            changed.append((name, b"%d" % (int(value) + size)))
    return {**start, "headers": changed}
