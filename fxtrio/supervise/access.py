"""The access log: one line per request, written in batches and off the event loop.

A request costs one append. `AccessLog.run` formats and writes what came together
a few times a second. A log whose reader stops loses lines, and says how many, but
never holds a request up.
"""

from __future__ import annotations

import os
import re
import time
from collections import deque
from typing import Any, Literal

import msgspec
import trio
from hypercorn.config import Config
from hypercorn.logging import Logger
from hypercorn.trio.statsd import StatsdLogger

Form = Literal["console", "json"]

_INTERVAL = 0.2
_CAPACITY = 20_000
_control = re.compile(r"[\x00-\x1f\x7f-\xa0\xad\"\\]")


def escape(data: bytes) -> str:
    """Return text that stays on its line and inside its quotes, whatever a client sent."""
    text = data.decode("latin-1")
    return _control.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


class AccessLog:
    """Lines for requests, in the form of ``form``, written to a descriptor."""

    def __init__(self, form: Form, descriptor: int) -> None:
        self._format = _console if form == "console" else _json
        self._descriptor = descriptor
        self._waiting: deque[tuple[float, Any, int | None, int, float]] = deque()
        self._lost = 0
        self._limiter = trio.CapacityLimiter(1)

    def note(self, scope: Any, status: int | None, sent: int, seconds: float) -> None:
        """Keep one request for the log; never waits."""
        if len(self._waiting) >= _CAPACITY:
            self._lost += 1
        else:
            self._waiting.append((time.time(), scope, status, sent, seconds))

    async def run(self) -> None:
        """Write what `note` kept, until cancelled."""
        while True:
            await trio.sleep(_INTERVAL)
            if self._waiting:
                await trio.to_thread.run_sync(
                    self.write, abandon_on_cancel=True, limiter=self._limiter
                )

    def write(self) -> None:
        """Write all that waits. Called in a thread while serving, and once at the end."""
        lines = []
        while self._waiting:
            lines.append(self._format(*self._waiting.popleft()))
        if self._lost:
            lines.append(f"{self._lost} lines of the access log were lost\n".encode())
            self._lost = 0
        data = memoryview(b"".join(lines))
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:  # somebody else made it non-blocking
                time.sleep(0.01)
            except OSError:
                return  # nobody reads it any more


class ServerLogger(Logger):
    """Hypercorn's log, with an access log of ours when the config has one."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.lines: AccessLog | None = getattr(config, "access_log", None)

    async def access(self, request: Any, response: Any, request_time: float) -> None:
        """Take one request; ``response`` is None when it had no answer."""
        if self.lines is not None:
            status, sent = None, 0
            if response is not None:
                status = response["status"]
                for name, value in response["headers"]:
                    if name.lower() == b"content-length" and value.isdigit():
                        sent = int(value)
            self.lines.note(request, status, sent, request_time)

    def close(self) -> None:
        """Write what still waits."""
        if self.lines is not None:
            self.lines.write()


class ServerStatsdLogger(StatsdLogger, ServerLogger):
    """The same, which also sends Hypercorn's metrics."""

    def close(self) -> None:
        """Write what still waits, and send no more."""
        super().close()
        self.socket.close()


def _console(at: float, scope: Any, status: int | None, sent: int, seconds: float) -> bytes:
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
    client = scope["client"]
    who = "-" if client is None else f"{client[0]}:{client[1]}"
    target = _target(scope)
    verb = scope.get("method", "WEBSOCKET")
    return (
        f'[{stamp}] {who} "{verb} {target} HTTP/{scope["http_version"]}" '
        f"{'-' if status is None else status} {sent} {seconds * 1000:.1f}ms\n"
    ).encode("utf-8", "backslashreplace")


def _json(at: float, scope: Any, status: int | None, sent: int, seconds: float) -> bytes:
    headers = {name: value for name, value in scope["headers"] if name in _shown}
    client = scope["client"]
    line = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1000):03d}Z",
        "client": None if client is None else client[0],
        "method": scope.get("method", "WEBSOCKET"),
        "target": _target(scope),
        "http": scope["http_version"],
        "status": status,
        "bytes": sent,
        "ms": round(seconds * 1000, 2),
    }
    for name, key in _shown.items():
        if name in headers:
            line[key] = escape(headers[name])
    return msgspec.json.encode(line) + b"\n"


_shown = {b"host": "host", b"user-agent": "agent", b"referer": "referer"}


def _target(scope: Any) -> str:
    query = scope["query_string"]
    return escape(scope["raw_path"] + (b"?" + query if query else b""))
