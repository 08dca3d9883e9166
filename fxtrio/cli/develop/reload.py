"""Makes pages reload themselves: an ASGI app around the one that is served.

Every HTML response gets a script at its end; the script waits for another version at
`/_fx/dev/events` (server-sent events).
"""

from __future__ import annotations

import re
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

import trio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_RETRY_MS = 200  # how soon a browser asks again after the server has gone
_NONCE = re.compile(rb"'nonce-([A-Za-z0-9+/=_-]+)'")
_CSP_HEADERS = (b"content-security-policy", b"content-security-policy-report-only")


class ReloadingApp:
    """Serves ``app``, with the script in its pages. ``version`` tells one start from the next."""

    def __init__(self, app: ASGIApp, *, version: str, base_url: str) -> None:
        self._app = app
        self._version = version
        self.folder = f"{base_url}/_fx/dev/"
        """The path of what the script asks for."""

        self._closing = trio.Event()
        self.state = SimpleNamespace(begin_shutdown=self._begin_shutdown)
        """Where the server looks for what to call first at a shutdown."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the script's own requests, and let the app answer the others."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
        elif scope["path"] == f"{self.folder}events":
            await self._serve_events(receive, send)
        elif scope["path"] == f"{self.folder}reload.js":
            await self._serve_script(send)
        else:
            await self._app(scope, receive, _ScriptAdder(send, self._tag).send)

    def _begin_shutdown(self) -> None:
        """End the streams of events, which would hold up the shutdown."""
        self._closing.set()
        begin = getattr(getattr(self._app, "state", None), "begin_shutdown", None)
        if begin is not None:
            begin()

    def _tag(self, nonce: bytes) -> bytes:
        source = f"{self.folder}reload.js?version={self._version}"
        with_nonce = f' nonce="{nonce.decode()}"' if nonce else ""
        return f'<script src="{source}"{with_nonce}></script>'.encode()

    async def _serve_script(self, send: Send) -> None:
        script = (files("fxtrio.cli.develop") / "reload.js").read_bytes()
        await _start(send, b"text/javascript; charset=utf-8")
        await send({"type": "http.response.body", "body": script})

    async def _serve_events(self, receive: Receive, send: Send) -> None:
        await _start(send, b"text/event-stream")
        event = f"retry: {_RETRY_MS}\ndata: {self._version}\n\n".encode()
        await send({"type": "http.response.body", "body": event, "more_body": True})
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._wait_for_close, nursery.cancel_scope)
            while (await receive())["type"] != "http.disconnect":
                pass
            nursery.cancel_scope.cancel()
        await send({"type": "http.response.body", "body": b""})

    async def _wait_for_close(self, scope: trio.CancelScope) -> None:
        await self._closing.wait()
        scope.cancel()


class _ScriptAdder:
    """Adds the script to the end of one response, if that is HTML."""

    def __init__(self, send: Send, tag: Any) -> None:
        self._send = send
        self._make_tag = tag
        self._tag = b""

    async def send(self, message: Message) -> None:
        """Pass one message on, changed where it must be."""
        if message["type"] == "http.response.start":
            message = self._start(message)
        elif message["type"] == "http.response.body" and not message.get("more_body", False):
            message = {**message, "body": message.get("body", b"") + self._tag}
        await self._send(message)

    def _start(self, message: Message) -> Message:
        headers = [(name.lower(), value) for name, value in message.get("headers", ())]
        found = dict(headers)
        plain = b"content-encoding" not in found
        if not found.get(b"content-type", b"").startswith(b"text/html") or not plain:
            return message
        policy = b" ".join(found.get(name, b"") for name in _CSP_HEADERS)
        nonce = _NONCE.search(policy)
        self._tag = self._make_tag(nonce[1] if nonce else b"")
        changed = [
            (name, b"%d" % (int(value) + len(self._tag)) if name == b"content-length" else value)
            for name, value in headers
        ]
        return {**message, "headers": changed}


async def _start(send: Send, media: bytes) -> None:
    headers = [(b"content-type", media), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
