"""What a request or a job consists of, and how long each part takes.

A span is one part: a route hook, a loader, a deferred value, an action, an endpoint, a render, a
query, a message that is published, a job. The code that does the work opens one by `span`, and
whoever wants to know of them is a `Listener` of the app (`App.spans`).

Nothing is measured unless somebody listens: `open_root` begins the tree of a request or a job,
and without a tree `span` is one look at a context variable. Tasks and threads inherit that
variable, so what they do has the right parent. A span never holds values of the application: no
arguments, no rows, no headers.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar, Token
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol, TypeVar

from fxtrio.errors import display_path
from fxtrio.tracebacks import is_application

A = TypeVar("A")
T = TypeVar("T")

SpanKind = Literal[
    "request", "hook", "loader", "deferred", "action", "endpoint", "stream", "websocket",
    "render", "query", "publish", "job",
]  # fmt: skip
"""What a span may be."""

LEAVES = frozenset({"render", "query", "publish"})
"""Those in which no code of the application runs: they are no parent, and tasks that begin
meanwhile belong to what is around them."""


_PLACED = frozenset({"query", "publish"})
"""Those that name the line of the application that has asked for them."""


class Listener(Protocol):
    """Learns of the spans of an app. Called on the thread that does the work; never waits."""

    def begin(self, span: Span) -> None:
        """Take note of a span that begins."""
        ...

    def end(self, span: Span) -> None:
        """Take note of a span that has ended; called once for each `begin`."""
        ...

    def carry(self, span: Span) -> str | None:
        """Return the ``traceparent`` by which a job in the database continues ``span``."""
        ...


class PartCounter(Protocol):
    """Counts parts where nobody wants to know which request they belong to."""

    def count(self, kind: SpanKind, name: str, seconds: float, failed: bool) -> None:
        """Count a part that has ended. Called in any thread."""
        ...


part_counter: ContextVar[PartCounter | None] = ContextVar("fx-part-counter", default=None)
"""Who counts the parts of what runs here, listeners or not."""


class Span:
    """One part of the work, as a block."""

    __slots__ = (
        "_token", "began", "carried", "ended", "error", "kind", "listeners", "name", "parent",
        "place", "rename", "states", "values",
    )  # fmt: skip

    def __init__(
        self,
        kind: SpanKind,
        name: str,
        parent: Span | None,
        listeners: Sequence[Listener],
        carried: str | None = None,
    ) -> None:
        self.kind = kind
        self.name = name
        """The file and function of a loader, the URL pattern of a request, the shape of SQL."""

        self.parent = parent
        self.listeners = listeners
        self.carried = carried
        """Of a root: the ``traceparent`` (W3C Trace Context) of what it continues."""

        self.place = ""
        """The file and line of the application that began it; "" for what the framework calls."""

        self.rename: Callable[[], None] | None = None
        """Gives a root its name as far as it is known by now."""

        self.began = self.ended = 0.0
        """Seconds of `time.perf_counter`."""

        self.error: str | None = None
        """The name of the class of the exception that ended it."""

        self.values: dict[str, str | int] = {}
        """What is known of it besides: ``rows``, ``status``, ``method``, ``route``, ``request``."""

        self.states: dict[object, Any] = {}
        """What listeners have noted, each by itself."""

    def __enter__(self) -> Span:
        self._token: Token[Span | None] | None = (
            None if self.kind in LEAVES else current_span.set(self)
        )
        self.began = time.perf_counter()
        for listener in self.listeners:
            listener.begin(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.ended = time.perf_counter()
        if kind is not None:
            self.error = kind.__name__
        counter = part_counter.get()
        if counter is not None:
            counter.count(self.kind, self.name, self.ended - self.began, kind is not None)
        try:
            for listener in reversed(self.listeners):
                listener.end(self)
        finally:
            if self._token is not None:
                current_span.reset(self._token)
                self._token = None  # it holds what the task knows, and spans may be kept

    @property
    def root(self) -> Span:
        """The request or job that it is a part of."""
        span = self
        while span.parent is not None:
            span = span.parent
        return span


class _Counted:
    """The block of a part that is only counted."""

    __slots__ = ("_began", "_counter", "_kind", "_name")

    def __init__(self, counter: PartCounter, kind: SpanKind, name: str) -> None:
        self._counter = counter
        self._kind = kind
        self._name = name

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        seconds = time.perf_counter() - self._began
        self._counter.count(self._kind, self._name, seconds, kind is not None)


class _Off:
    """The block of a part that nobody wants to know of."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    # Named one by one: collecting them would cost a tuple each time.
    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        return None


_OFF = _Off()

current_span: ContextVar[Span | None] = ContextVar("fx-span", default=None)
"""The part that the running code belongs to; None where nobody listens."""


class Spans:
    """The listeners of an app."""

    def __init__(self) -> None:
        self.listeners: tuple[Listener, ...] = ()
        """Changed as a whole, so that a request under way keeps those that it began with."""

    def add(self, listener: Listener) -> None:
        """Let ``listener`` know of requests and jobs that begin from now on."""
        self.listeners = (*self.listeners, listener)

    def remove(self, listener: Listener) -> None:
        """Leave ``listener`` out from now on."""
        self.listeners = tuple(one for one in self.listeners if one is not listener)

    def open_root(self, kind: SpanKind, name: str, carried: str | None = None) -> Span | _Off:
        """Return the block of a request or a job, which `span` divides into its parts."""
        return Span(kind, name, None, self.listeners, carried) if self.listeners else _OFF


def span(kind: SpanKind, name: str) -> Span | _Counted | _Off:
    """Return the block of a part of the current request or job.

    ``name`` is the SQL of a query. The value of the block is the `Span`, None where nobody listens.
    """
    parent = current_span.get()
    if parent is None:
        counter = part_counter.get()
        return _OFF if counter is None else _Counted(counter, kind, name)
    part = Span(kind, shape_of(name) if kind == "query" else name, parent, parent.listeners)
    if kind in _PLACED:
        part.place = calling_place()
    return part


def call_in_span(
    kind: SpanKind, name: str, function: Callable[[A], Awaitable[T]], argument: A
) -> Awaitable[T]:
    """Return ``function(argument)`` as a part, without a block where nobody wants to know of it."""
    if current_span.get() is None and part_counter.get() is None:
        return function(argument)
    return _call_within(span(kind, name), function, argument)


async def _call_within(
    block: Span | _Counted | _Off, function: Callable[[A], Awaitable[T]], argument: A
) -> T:
    with block:
        return await function(argument)


def carried() -> str | None:
    """Return what a job that is stored now has to carry; None where nobody needs it."""
    here = current_span.get()
    if here is None:
        return None
    for listener in here.listeners:
        found = listener.carry(here)
        if found is not None:
            return found
    return None


def calling_place() -> str:
    """Return the innermost line of the application that led here, ``pages/book.fxl:11``.

    "" where the framework itself has called.
    """
    frame = sys._getframe(1)
    while frame is not None:
        if is_application(frame.f_code.co_filename):
            return f"{display_path(Path(frame.f_code.co_filename))}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]  # None ends the loop
    return ""


_PARTS = r"""--[^\n]* | /\*.*?(?:\*/|\Z)                  # comments
      | [eE]'(?:[^'\\]|''|\\.)*+(?:'|\Z)             # texts with escapes
      | '(?:[^']|'')*+(?:'|\Z)                       # texts
      | \$(?P<tag>[^\W\d]\w*|)\$.*?(?:\$(?P=tag)\$|\Z)
      | (?P<kept>"\w+")                             # names
      | "(?:[^"]|"")*+(?:"|\Z)                      # what SQLite may take for a text
      | (?<![\w$.])\d[\w.]*                          # numbers
    """
_LONGEST = 500  # characters of a statement that are shown


@lru_cache(512)
def shape_of(sql: str) -> str:
    """Return a statement on one line, with ``?`` in place of every value that is written in it.

    Statements that differ in their values only have the same shape.
    """
    return " ".join(re.sub(_PARTS, _redacted, sql, flags=re.DOTALL | re.VERBOSE).split())[:_LONGEST]


def _redacted(found: re.Match[str]) -> str:
    return " " if found[0].startswith(("--", "/*")) else found["kept"] or "?"
