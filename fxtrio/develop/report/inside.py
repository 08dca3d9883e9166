"""What developers see of the app that `fx dev` serves, below `/__fx/`.

The tree of its tasks at ``/__fx/tree``, and where the time of the last requests went at
``/__fx/timings``: pages, or JSON for those who ask for that.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import msgspec
from starlette.types import Scope, Send

from fxtrio.develop.report.timings import Timings, server_timing
from fxtrio.develop.report.waterfall import page_of_timings
from fxtrio.observe.observer import open_observer
from fxtrio.observe.text import text_of
from fxtrio.observe.tree import Loop, take_tree
from fxtrio.spans import current_span

FOLDER = "/__fx/"
"""The paths that are answered here, below the base URL."""

_POLICY = b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"


class Inside:
    """The running app as developers see it. `Swapper` owns one for each process."""

    def __init__(self) -> None:
        self.timings = Timings()
        self._loop: Loop | None = None

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
        if span is None or self.timings not in span.root.states:
            return []
        return server_timing(self.timings.of(span), time.perf_counter())

    async def answer(self, scope: Scope, send: Send, path: str) -> None:
        """Answer a GET or HEAD of ``path``, which is below `FOLDER`."""
        wants_json = any(
            name == b"accept" and b"application/json" in value for name, value in scope["headers"]
        )
        data = self._data(path)
        if data is None:
            await _send(scope, send, 404, b"text/plain; charset=utf-8", b"Not found\n")
        elif wants_json:
            await _send(scope, send, 200, b"application/json", msgspec.json.encode(data))
        else:
            html = _page_of_tree(data) if path == "tree" else page_of_timings(data)
            await _send(scope, send, 200, b"text/html; charset=utf-8", html.encode())

    def _data(self, path: str) -> Any:
        if path == "tree" and self._loop is not None:
            return take_tree(self._loop, os.getpid()).as_dict()
        if path == "timings":
            return [timing.as_dict() for timing in self.timings.latest()]
        return None


def _page_of_tree(tree: dict[str, Any]) -> str:
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Tasks</title>'
        '<meta name="viewport" content="width=device-width">'
        '<meta http-equiv="refresh" content="2">'
        "<style>:root{color-scheme:light dark}pre{overflow-x:auto}</style>"
        f"<main><h1>Tasks</h1><pre tabindex=0>{escape(text_of(tree))}</pre></main></html>"
    )


async def _send(scope: Scope, send: Send, status: int, media: bytes, body: bytes) -> None:
    headers = [
        (b"content-type", media),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
        (b"content-security-policy", _POLICY),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    sent = b"" if scope["method"] == "HEAD" else body
    await send({"type": "http.response.body", "body": sent})
