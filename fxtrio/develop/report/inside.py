"""What developers see of the app that `fx dev` serves, below `/__fx/`.

That is Studio. The tree of its tasks at ``/__fx/tree``, and where the time of the last requests
went at ``/__fx/timings``, are JSON for those who ask for that.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import trio
from starlette.types import Receive, Scope, Send

from fxtrio.observe.observer import open_observer
from fxtrio.observe.tree import Loop, take_tree
from fxtrio.plugins.studio import html
from fxtrio.plugins.studio.sections import PageContext
from fxtrio.plugins.studio.studio import PAUSE, POLICY, TOO_MANY, Watchers, query_of, render_page
from fxtrio.plugins.studio.timings import Timings, server_timing
from fxtrio.spans import current_span

FOLDER = "/__fx/"
"""The paths that are answered here, below the base URL."""

_HTML = b"text/html; charset=utf-8"
_TEXT = b"text/plain; charset=utf-8"
_NAMES = {"": "requests", "timings": "requests"}
"""Other names of a page; the second is that of its JSON."""


class Inside:
    """The running app as developers see it. `Swapper` owns one for each process."""

    def __init__(self) -> None:
        self.timings = Timings()
        self.application: Any = None
        """The ASGI app; None for one that fxtrio has not made."""

        self._loop: Loop | None = None
        self._watchers = Watchers(self.timings)
        self._closing = trio.Event()

    @contextmanager
    def open(self) -> Iterator[None]:
        """Know the tasks of the calling thread's loop, for as long as the block lasts."""
        with open_observer() as loop:
            self._loop = loop
            try:
                yield
            finally:
                self._loop = None

    def server_timing(self) -> list[bytes]:
        """Return the entries of `Server-Timing` for the request that the caller answers."""
        span = current_span.get()
        timing = None if span is None else self.timings.of(span)
        return [] if timing is None else server_timing(timing, time.perf_counter())

    def close(self) -> None:
        """End the streams of events, which would hold up a shutdown."""
        self._closing.set()

    async def answer(self, scope: Scope, receive: Receive, send: Send, path: str) -> None:
        """Answer a GET or HEAD of ``path``, which is below `FOLDER`."""
        wants_json = any(
            name == b"accept" and b"application/json" in value for name, value in scope["headers"]
        )
        data = self._data(path) if wants_json else None
        if data is not None:
            await _send(scope, send, 200, b"application/json", msgspec.json.encode(data))
        elif path == "page.js":
            await _send(scope, send, 200, b"text/javascript", html.SCRIPT)
        elif path == "events" and self._watchers.is_full:
            await _send(scope, send, 503, _TEXT, TOO_MANY.encode())
        elif path == "events":
            await self._watchers.send_events(receive, send, self._pause)
        else:
            page = await self._page(scope, path)
            if page is None:
                await _send(scope, send, 404, _TEXT, b"Not found\n")
            else:
                await _send(scope, send, 200, _HTML, page.encode())

    async def _page(self, scope: Scope, path: str) -> str | None:
        if self._loop is None:
            return None
        base: str = scope["path"].removesuffix(path).rstrip("/")
        query = query_of(scope)
        context = PageContext(self.application, self.timings, self._loop, True, scope, query)
        return await render_page(_NAMES.get(path, path), context, base)

    async def _pause(self) -> bool:
        with trio.move_on_after(PAUSE):
            await self._closing.wait()
        return not self._closing.is_set()

    def _data(self, path: str) -> Any:
        if path == "tree" and self._loop is not None:
            return take_tree(self._loop, os.getpid()).as_dict()
        if path == "timings":
            return [timing.as_dict() for timing in self.timings.latest()]
        return None


async def _send(scope: Scope, send: Send, status: int, media: bytes, body: bytes) -> None:
    headers = [
        (b"content-type", media),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
        (b"content-security-policy", POLICY.encode()),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    sent = b"" if scope["method"] == "HEAD" else body
    await send({"type": "http.response.body", "body": sent})
