"""Rate limits for repeated log records: the first is logged, further ones are counted.

`Repeats` decides; it does no I/O and reads no clock. `LogLimit` is the logging filter
that an app in production puts before its log.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, Generic, TypeVar

import attrs
import msgspec
import trio

K = TypeVar("K")

PERIOD: Final = 60.0
"""Time between two lines of the log about the same thing (seconds)."""

CAPACITY: Final = 1000
"""Distinct keys that are tracked at a time (count)."""

FROM_ONE_PLACE: Final = 100
"""Lines that differ and come from one line of code, within the period (count)."""

LOGGERS: Final = tuple(
    f"fx.{name}"
    for name in ("app", "auth", "errors", "markdown", "realtime", "serve", "ssr", "tasks")
)
"""Those that write for requests and jobs, so that others decide how much."""

SERVER: Final = "fx.server"
"""The server's own logger. Its lines about single clients are harmless, but clients repeat them."""

JOBS: Final = "fx.tasks"
"""The logger of jobs, which a person may have to repeat by hand."""

JOBS_LOGGED: Final = 20
"""Failures of one kind of job that are logged in full, before they are only counted."""

_REPEATED = "fx_repeated"
_LONGEST_MESSAGE = 200  # characters of a message in the line about its repetitions


class _Count(msgspec.Struct):
    since: float
    """When the period began."""

    more: int = 0
    logged: int = 1


class Repeats(msgspec.Struct, Generic[K]):
    """Counts repetitions within ``period`` seconds of the first time."""

    period: float
    capacity: int
    """Most keys that are added (count)."""

    _counts: dict[K, _Count] = msgspec.field(default_factory=dict)

    def repeats(self, key: K, now: float, *, logged: int = 1) -> bool:
        """Return whether ``key`` was added ``logged`` times lately, and count it once more then."""
        known = self._counts.get(key)
        if known is None or not (known.more or now - known.since < self.period):
            return False
        if not known.more and known.logged < logged:
            return False
        known.more += 1
        return True

    def add(self, key: K, now: float) -> bool:
        """Start to count ``key``, or log it again; return False if there are too many keys."""
        known = self._counts.get(key)
        if known is not None and not known.more and now - known.since < self.period:
            known.logged += 1
            return True
        if len(self._counts) >= self.capacity and key not in self._counts:
            self._forget(now)
            if len(self._counts) >= self.capacity:
                return False
        self._counts[key] = _Count(now)
        return True

    def count(self, key: K, now: float) -> None:
        """Count ``key`` without logging it: one of a few that represent all others."""
        self._counts.setdefault(key, _Count(now)).more += 1

    def again(self, key: K, now: float) -> int | None:
        """Return how often ``key`` was suppressed if it is to be logged now, else None.

        For callers without a task that calls `take_due`: the count carries over to the next time.
        """
        known = self._counts.get(key)
        if known is not None and now - known.since < self.period:
            known.more += 1
            return None
        self._counts.pop(key, None)
        if not self.add(key, now):
            return None
        return known.more if known is not None else 0

    def has_more(self) -> bool:
        """Return whether something has come again that `take_due` has not returned."""
        return any(count.more for count in self._counts.values())

    def take_due(self, now: float, *, early: bool = False) -> list[tuple[K, int]]:
        """Return the repetitions of keys whose period has ended (``early``: of all keys).

        Their next period begins, at the end of which they are returned again.
        """
        due = [
            (key, count.more)
            for key, count in self._counts.items()
            if count.more and (early or now - count.since >= self.period)
        ]
        for key, _ in due:
            self._counts[key] = _Count(now)
        return due

    def _forget(self, now: float) -> None:
        for key, count in tuple(self._counts.items()):
            if not count.more and now - count.since >= self.period:
                del self._counts[key]


def lines_of_clients() -> Repeats[str]:
    """Return a check to call before a log line that clients can cause at any rate."""
    return Repeats(PERIOD, CAPACITY)


def more_like_it(count: int) -> str:
    """Return the end of a line that represents ``count`` suppressed ones before it."""
    return f" (and {count} more in the last minute)" if count else ""


Place = tuple[str, int]
"""File and line."""


@attrs.frozen
class _Kind:
    """The identity of records: their location, and their subject."""

    logger: str
    level: int
    written: Place
    about: tuple[object, ...]
    text: str = attrs.field(eq=False)


class LogLimit(logging.Filter):
    """Passes the first of equal warnings and errors, and logs once a minute how many followed.

    The same holds for the server's lines (`SERVER`), such as why it rejected a client.
    The first record is complete, with its traceback; for jobs, the first `JOBS_LOGGED`. Errors
    are equal if they have one class and were raised at one line of code, other records if
    their text is the same.
    One line of code also cannot log more than `FROM_ONE_PLACE` different texts.
    May be used from any thread.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: Repeats[_Kind] = Repeats(PERIOD, CAPACITY)
        self._places: dict[Place, _Count] = {}
        self._on_repeat: Callable[[], object] = _nothing

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is to be written."""
        least = logging.INFO if record.name == SERVER else logging.WARNING
        if record.levelno < least or hasattr(record, _REPEATED):
            return True
        kind, now = _kind_of(record), self._clock()
        with self._lock:
            first = self._is_first(kind, now)
        if not first:
            self._on_repeat()
        return first

    def log_repeats(self, *, early: bool = False) -> None:
        """Write how many records were held back, of each kind whose minute is over."""
        with self._lock:
            due = self._seen.take_due(self._clock(), early=early)
        for kind, more in due:
            text = "%d more within %g s like this: %s"
            logger = logging.getLogger(kind.logger)
            logger.log(kind.level, text, more, PERIOD, kind.text, extra={_REPEATED: more})

    async def run(self) -> None:
        """Log suppressed records once a minute, until cancelled; waits while there are none."""
        token = trio.lowlevel.current_trio_token()
        try:
            while True:
                repeated = trio.Event()
                self._on_repeat = partial(token.run_sync_soon, repeated.set, idempotent=True)
                if not self._seen.has_more():
                    await repeated.wait()
                self._on_repeat = _nothing
                await trio.sleep(PERIOD)
                self.log_repeats()
        finally:
            self._on_repeat = _nothing

    def _is_first(self, kind: _Kind, now: float) -> bool:
        """Return whether to write a record of this kind; count it if not."""
        logged = JOBS_LOGGED if kind.logger == JOBS else 1
        if self._seen.repeats(kind, now, logged=logged):
            return False
        place = self._places.setdefault(kind.written, _Count(now))
        if now - place.since >= PERIOD:
            place.since, place.more = now, 0
        place.more += 1
        if place.more <= FROM_ONE_PLACE and self._seen.add(kind, now):
            return True
        text = f"other messages of {kind.logger}"
        self._seen.count(attrs.evolve(kind, about=(), text=text), now)
        return False


def _nothing() -> None:
    """Do nothing: the default callback."""


@asynccontextmanager
async def open_log_limit(limit: LogLimit | None = None) -> AsyncIterator[None]:
    """Limit the framework's log while the block lasts.

    At its end the suppressed records are logged.
    """
    limit = LogLimit() if limit is None else limit
    loggers = [logging.getLogger(name) for name in (*LOGGERS, SERVER)]
    for logger in loggers:
        logger.addFilter(limit)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(limit.run, name="log.repeats")
            try:
                yield
            finally:
                nursery.cancel_scope.cancel("the app has ended")
    finally:
        for logger in loggers:
            logger.removeFilter(limit)
        limit.log_repeats(early=True)


def _kind_of(record: logging.LogRecord) -> _Kind:
    message = record.getMessage()
    error = record.exc_info[1] if record.exc_info else None
    about: tuple[object, ...] = (message,)
    if error is not None:
        about = type(error), *_raised_at(error)
    text = message.partition("\n")[0][:_LONGEST_MESSAGE]
    return _Kind(record.name, record.levelno, (record.pathname, record.lineno), about, text)


def _raised_at(error: BaseException) -> Place:
    """Return where an error was raised; of a group, the first one in it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return ("", 0) if last is None else (last.tb_frame.f_code.co_filename, last.tb_lineno)
