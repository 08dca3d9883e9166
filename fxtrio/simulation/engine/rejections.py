"""Rejects what cannot be simulated: sockets, other processes, threads beside the event loop.

By Python's audit events, whatever library an attempt comes from. An audit hook cannot be removed;
this one does nothing outside of a simulation. Starts of threads are no such event before 3.13,
and event loops of asyncio none at all.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import Any

import attrs

from fxtrio.errors import PlacedError
from fxtrio.tracebacks import is_application

_EVENTS = {
    "socket.connect": "a connection is opened",
    "socket.bind": "a socket is opened",
    "socket.getaddrinfo": "a host name is looked up",
    "socket.gethostbyname": "a host name is looked up",
    "subprocess.Popen": "a process is started",
    "os.posix_spawn": "a process is started",
    "os.fork": "a process is started",
    "os.system": "a process is started",
}


class NotSimulated(PlacedError):
    """The application does something that a simulation cannot repeat."""

    remedy = "Replace it in the test, or test it with 'open_app'"

    def __init__(self, place: str, what: str) -> None:
        super().__init__(place, f"{what}, which a simulation cannot repeat")


@attrs.define
class _Rejections:
    call: Callable[[NotSimulated], None] | None = None
    """Gets the error of a rejection while a simulation runs, whichever thread it is in."""

    allowed: Callable[[], bool] | None = None


_rejections = _Rejections()

begun_at = threading.local()
"""``place`` is where the application began what runs in this thread."""


@contextmanager
def rejecting(call: Callable[[NotSimulated], None], allowed: Callable[[], bool]) -> Iterator[None]:
    """Raise NotSimulated where this process does what cannot be simulated, unless ``allowed``.

    ``call`` gets the error, too: the application may catch it.
    """
    _install()
    threads: Any = threading.Thread
    modules: tuple[Any, ...] = (asyncio, asyncio.events)
    start, new_event_loop = threads.start, asyncio.new_event_loop

    def start_rejected(thread: threading.Thread) -> None:
        _require("a thread is started")
        start(thread)

    def loop_rejected() -> asyncio.AbstractEventLoop:
        _require("an event loop of asyncio is created")
        return new_event_loop()

    _rejections.call, _rejections.allowed, threads.start = call, allowed, start_rejected
    for module in modules:
        module.new_event_loop = loop_rejected
    try:
        yield
    finally:
        _rejections.call, _rejections.allowed, threads.start = None, None, start
        for module in modules:
            module.new_event_loop = new_event_loop


@cache
def _install() -> None:
    sys.addaudithook(_audit)


def _audit(event: str, args: object) -> None:
    what = _EVENTS.get(event)
    if what is not None:
        _require(what)


def _require(what: str) -> None:
    """Raise NotSimulated in a simulation."""
    call, allowed = _rejections.call, _rejections.allowed
    if call is None or (allowed is not None and allowed()):
        return
    error = NotSimulated(place_of(sys._getframe(2)), what)
    call(error)
    raise error


def place_of(frame: FrameType | None) -> str:
    """Return file and line of the application's innermost frame, else of the innermost one.

    In a worker thread it is where the application began it.
    """
    innermost = frame
    while frame is not None:
        if is_application(frame.f_code.co_filename):
            break
        frame = frame.f_back
    begun = getattr(begun_at, "place", "")
    if frame is None and begun:
        return str(begun)
    found = frame or innermost
    return "?" if found is None else f"{found.f_code.co_filename}:{found.f_lineno}"
