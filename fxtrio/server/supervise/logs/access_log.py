"""The access log: one line per request, written in batches and off the event loop.

A request costs one append. `AccessLog.run` formats and writes the pending requests a few
times a second. If the log's reader stops, lines are dropped and counted, but no request
is delayed.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any

import msgspec
import trio

from fxtrio.config.model import HIDDEN_PARAMETERS
from fxtrio.log import LogFormat
from fxtrio.log_limit import lines_of_clients
from fxtrio.server.http1.tls import show_address
from fxtrio.server.supervise.logs.query_redaction import hiding

_WRITE_INTERVAL = 0.2
_FORMATTED_AT_ONCE = 100  # lines, about a third of a millisecond
_MOST_WAITING = 20_000
_LINE_FEED = 10
_LOST = "lines of the access log were lost\n"
_log = logging.getLogger("fx.server")
Hide = Callable[[bytes], bytes]
_Request = tuple[
    float,  # seconds since 1970
    tuple[str, int] | None,  # the client
    str,  # method
    bytes,  # path
    bytes,  # query
    str,  # version of HTTP
    int | None,  # status
    int | None,  # bytes of the response's body, if known
    float,  # seconds that it took
    tuple[tuple[bytes, bytes], ...] | None,  # logged headers
    str | None,  # the request's id
]

_control = re.compile(r"[\x00-\x1f\x7f-\xa0\xad\"\\]")


def escape(data: bytes) -> str:
    """Return text that stays on its line and inside its quotes, whatever a client sent."""
    text = data.decode("latin-1")
    return _control.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


class AccessLog:
    """Lines for requests, in the format ``log_format``, written to a descriptor.

    The values of the parameters ``hidden`` are in none of them.
    """

    def __init__(
        self, log_format: LogFormat, descriptor: int, *, hidden: Iterable[str] = HIDDEN_PARAMETERS
    ) -> None:
        self._format = partial(_console if log_format == "console" else _json, hiding(hidden))
        self._descriptor = descriptor
        self._is_json = log_format == "json"
        self._waiting: deque[_Request] = deque()
        self._lost = 0
        self._cut = False  # the last write ended within a line
        self._failures = lines_of_clients()
        self._limiter = trio.CapacityLimiter(1)

    def note(self, scope: Any, status: int | None, sent: int | None, seconds: float) -> None:
        """Queue one request for the log; never waits.

        Only the logged values are queued: the scope would keep all objects of the request in
        memory, and make every request several times as expensive.
        """
        if len(self._waiting) >= _MOST_WAITING:
            self._lost += 1
            return
        headers = request_id = None
        if self._is_json:
            headers = tuple([pair for pair in scope["headers"] if pair[0] in _LOGGED_HEADERS])
            state = scope.get("state")
            request_id = state.get("request_id") if state else None
        self._waiting.append(
            (
                time.time(),
                scope["client"],
                scope.get("method", "WEBSOCKET"),
                scope["raw_path"],
                scope["query_string"],
                scope["http_version"],
                status,
                sent,
                seconds,
                headers,
                request_id,
            )
        )

    async def run(self) -> None:
        """Write queued requests, until cancelled."""
        while True:
            await trio.sleep(_WRITE_INTERVAL)
            pieces = []
            while self._waiting:
                # In slices here rather than in the thread, which would hold the interpreter
                # for milliseconds at a time.
                pieces.append(self._format_some(_FORMATTED_AT_ONCE))
                await trio.lowlevel.checkpoint()
            if pieces:
                write = partial(self._write, b"".join(pieces))
                lost = await trio.to_thread.run_sync(
                    write, abandon_on_cancel=True, limiter=self._limiter
                )
                self._lost += lost  # `note` may have added to it meanwhile

    def flush(self) -> None:
        """Write all that waits. May block: for the end, when nothing else is served."""
        lost = self._write(self._format_some(len(self._waiting)))
        self._lost += lost

    def _format_some(self, most: int) -> bytes:
        lines = []
        for _ in range(min(most, len(self._waiting))):
            lines.append(self._format(self._waiting.popleft()))
        if self._lost:
            lines.append(f"{self._lost} {_LOST}")
            self._lost = 0
        return "".join(lines).encode("utf-8", "backslashreplace")

    def _write(self, data: bytes) -> int:
        """Write lines, and return how many could not be; whatever is cut has a line of its own."""
        view = memoryview(b"\n" + data if self._cut and data else data)
        while view:
            try:
                written = os.write(self._descriptor, view)
            except BlockingIOError:  # another process made it non-blocking
                time.sleep(0.01)
            except OSError as error:  # the disk is full, or the reader has closed it
                self._report_write_error(error)
                return _count_lost(bytes(view))
            else:
                self._cut = view[written - 1] != _LINE_FEED
                view = view[written:]
        return 0

    def _report_write_error(self, error: OSError) -> None:
        if self._failures.again("failure", time.monotonic()) is not None:
            _log.error("the access log cannot be written: %s; its lines are lost", error.strerror)


def _count_lost(data: bytes) -> int:
    """Return how many lines are lost with ``data``, including those that its notices count."""
    lost = 0
    for line in data.decode().splitlines(keepends=True):
        number, _, rest = line.partition(" ")
        lost += int(number) if rest == _LOST else line != "\n"
    return lost


@lru_cache(maxsize=2)
def _local_time(second: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(second))


@lru_cache(maxsize=2)
def _universal_time(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))


def _console(hide: Hide, request: _Request) -> str:
    at, client, verb, path, query, version, status, sent, seconds, *_ = request
    return (
        f"[{_local_time(int(at))}] {show_address(client)} "
        f'"{verb} {_target(path, hide(query))} HTTP/{version}" '
        f"{'-' if status is None else status} {'-' if sent is None else sent} "
        f"{seconds * 1000:.1f}ms\n"
    )


def _json(hide: Hide, request: _Request) -> str:
    at, client, verb, path, query, version, status, sent, seconds, headers, request_id = request
    line: dict[str, object] = {
        "time": f"{_universal_time(int(at))}.{int(at % 1 * 1000):03d}Z",
        "client": None if client is None else client[0],
        "method": verb,
        "target": _target(path, hide(query)),
        "http": version,
        "status": status,
        "bytes": sent,
        "ms": round(seconds * 1000, 2),
    }
    for name, value in headers or ():
        line[_LOGGED_HEADERS[name]] = escape(hide(value) if name == b"referer" else value)
    if request_id is not None:
        line["request"] = request_id
    return msgspec.json.encode(line).decode() + "\n"


_LOGGED_HEADERS = {b"host": "host", b"user-agent": "agent", b"referer": "referer"}


def _target(path: bytes, query: bytes) -> str:
    return escape(path + b"?" + query if query else path)
