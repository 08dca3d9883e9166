"""`@job` and `@every`: functions that may be enqueued to run later, in any process of the app."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from math import inf
from typing import Any, Generic, ParamSpec, overload
from zoneinfo import ZoneInfo

import attrs

from fxtrio.context import current, current_app, get_request_id, why_no_app
from fxtrio.jobs.errors import (
    CronInvalid,
    JobArgumentsInvalid,
    JobArgumentsMismatch,
    JobKeyInvalid,
    JobsNotRunning,
)
from fxtrio.requester import encode_requester
from fxtrio.spans import carried
from fxtrio.tasks.calls import name_of

P = ParamSpec("P")

Unique = bool | Callable[..., str | None]


LONGEST_DELAY = 100 * 365 * 86_400.0
"""Beyond it moments have no dates, by which people look for jobs (seconds)."""


PRIORITIES = range(-100, 101)
"""A job has one of them, 0 without a word."""


@attrs.frozen(eq=False, kw_only=True, slots=False)
class Job(Generic[P]):
    """A function that can be enqueued. Calling it runs the function, here and now."""

    function: Callable[P, Any]

    name: str
    """``module.qualified_name``, its name in the database: renaming loses waiting jobs."""

    retries: int
    """How often it is tried again after an error (count)."""

    timeout: float
    """How long one try may take (seconds)."""

    backoff: float
    """Before the first retry; twice as long before each further one (seconds)."""

    unique: Unique
    atomic: bool
    queue: str
    priority: int
    """Of those that are due, those of the highest come first."""

    schedule: Schedule | None = None

    __fx_job__ = True
    """Marks it for `fx.tasks.enqueue`, which rejects it."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Call the function itself."""
        return self.function(*args, **kwargs)

    async def enqueue(
        self, *args: Any, delay: float = 0.0, priority: int | None = None, **kwargs: Any
    ) -> int | None:
        """Store one run of it in the database and return its number.

        It is part of the current transaction: it runs after the commit, and never without
        one. ``delay`` is in seconds; ``priority`` defaults to that of the job. Returns None if
        the job is ``unique`` and already waits or runs. Raises JobsNotRunning,
        JobArgumentsInvalid, JobArgumentsMismatch, JobKeyInvalid, ValueError for a ``delay``
        above `LONGEST_DELAY` or a ``priority`` outside of `PRIORITIES`, and errors of the
        database.
        """
        runner = self.runner_of(current_app())
        runner.jobs[self.name] = self  # its module may have been imported after the start, or again
        now = runner.now()
        row = self.row(args, kwargs, now=now, delay=delay, priority=priority)
        after = runner.notify if row["due"] <= now else runner.wake
        number: int | None = await runner.store.add(**row, after=after)
        return number

    def runner_of(self, app: Any) -> Any:
        """Return what runs the jobs of ``app``, which may be None. Raises JobsNotRunning."""
        if app is None or app.jobs is None:
            raise JobsNotRunning(self.name, _why_none(app))
        return app.jobs

    def row(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        now: float,
        delay: float = 0.0,
        priority: int | None = None,
    ) -> dict[str, Any]:
        """Return the database row of one run; raises as `enqueue` does."""
        if not delay <= LONGEST_DELAY:  # nan is not, either
            raise ValueError(f"{self.name}: the delay is {delay!r} s. It may be 100 years.")
        return {
            "name": self.name,
            "queue": self.queue,
            "args": self._encoded(args, kwargs),
            "key": self._key(args, kwargs),
            "due": now + delay,
            "made": now,
            "priority": self.priority if priority is None else checked_priority(priority),
            "request_id": get_request_id(),
            "traceparent": carried(),
            "requester": encode_requester(current.get()),
        }

    def mismatch(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> JobArgumentsMismatch | None:
        """Return why the function cannot be called with arguments; None when it can be."""
        if self._signature is not None:
            try:
                self._signature.bind(*args, **kwargs)
            except TypeError as error:
                return JobArgumentsMismatch(self.name, str(error))
        return None

    @cached_property
    def _signature(self) -> inspect.Signature | None:
        try:
            return inspect.signature(self.function)
        except (TypeError, ValueError):  # of a builtin
            return None

    def _encoded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        mismatch = self.mismatch(args, kwargs)
        if mismatch is not None:
            raise mismatch
        try:
            return json.dumps([args, kwargs], allow_nan=False, separators=(",", ":"))
        except (TypeError, ValueError) as error:
            raise JobArgumentsInvalid(self.name, str(error)) from error

    def _key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
        """Return the key that is unique among waiting and running jobs; None without one."""
        if callable(self.unique):
            key = self.unique(*args, **kwargs)
            if key is not None and not (isinstance(key, str) and _is_storable(key)):
                raise JobKeyInvalid(self.name, key)
            return key
        return json.dumps([args, kwargs], sort_keys=True) if self.unique else None


def _why_none(app: Any) -> str:
    """Return why ``app``, None where none runs, has nothing that runs jobs."""
    if app is None:
        return why_no_app()
    if app.database is None:
        return "jobs are stored in the database, and this app has none. Set 'database.url'"
    return (
        "the app started without durable jobs, so nothing runs this one. Import its module "
        "at the top of a page, an endpoint or a hook, and restart the app"
    )


def checked_priority(priority: int) -> int:
    """Return a priority. Raises ValueError for one outside of `PRIORITIES`."""
    if priority not in PRIORITIES:
        low, high = PRIORITIES[0], PRIORITIES[-1]
        raise ValueError(f"the priority is {priority!r}. It is a whole number, {low} to {high}.")
    return priority


def _is_storable(text: str) -> bool:
    """Whether every engine can store a text."""
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


@overload
def job(function: Callable[P, Any], /) -> Job[P]: ...


@overload
def job(
    *,
    retries: int = 3,
    timeout: float = inf,
    backoff: float = 1.0,
    unique: Unique = False,
    atomic: bool = False,
    queue: str = "default",
    priority: int = 0,
) -> Callable[[Callable[P, Any]], Job[P]]: ...


def job(
    function: Callable[..., Any] | None = None,
    /,
    *,
    retries: int = 3,
    timeout: float = inf,
    backoff: float = 1.0,
    unique: Unique = False,
    atomic: bool = False,
    queue: str = "default",
    priority: int = 0,
) -> Any:
    """Make a function of a module a durable job, run at least once: ``@job``, or ``@job(…)``.

    It has ``1 + retries`` attempts of at most ``timeout`` seconds each, with pauses of
    ``backoff``, twice ``backoff`` and so on, 30 days at most. ``unique`` allows only one waiting
    or running job with the same arguments; a function of the arguments may return another
    key, or None. The changes of an ``atomic`` job to `fx.db` are committed together with its
    completion, so their effect is exactly once. ``queue`` is a name by which processes select
    jobs. Of the jobs that are due, those of the highest ``priority`` start first, -100 to 100.
    """
    checked_priority(priority)

    def declare(function: Callable[..., Any]) -> Job[Any]:
        if atomic and not inspect.iscoroutinefunction(function):
            raise TypeError(f"@job: {name_of(function)} is atomic. Write it with 'async def'.")
        return Job(
            function=function,
            name=name_of(function),
            retries=retries,
            timeout=timeout,
            backoff=backoff,
            unique=unique,
            atomic=atomic,
            queue=queue,
            priority=priority,
        )

    return declare if function is None else declare(function)


def every(times: str, *, tz: str = "UTC", **options: Any) -> Callable[[Callable[[], Any]], Job[[]]]:
    """Make a function without parameters a job that is enqueued at each of ``times``.

    ``times`` are the five fields of cron, in the time zone ``tz``: a time that a clock change
    skips is run right after the change, a repeated one is run once. If times were missed while
    no process ran, the last one is run. ``options`` are those of `job`. Raises CronInvalid.
    """
    schedule = Schedule.read(times, tz)

    def declare(function: Callable[[], Any]) -> Job[[]]:
        return attrs.evolve(job(**options)(function), schedule=schedule)

    return declare


@attrs.frozen
class Schedule:
    """Times of day and calendar in a time zone, as seconds since 1970. Created by `read`."""

    times: str
    zone: ZoneInfo

    @classmethod
    def read(cls, times: str, tz: str) -> Schedule:
        """Return a schedule. Raises CronInvalid."""
        from cronsim import CronSim, CronSimError  # only needed for schedules

        try:
            zone = ZoneInfo(tz)
        except (ValueError, OSError, LookupError) as error:
            raise CronInvalid(times, f"there is no time zone {tz!r}") from error
        if len(times.split()) != 5:
            raise CronInvalid(times, f"it has {len(times.split())} fields")
        try:
            CronSim(times, datetime(2024, 1, 1, tzinfo=zone))
        except CronSimError as error:
            raise CronInvalid(times, str(error)) from error
        return cls(times, zone)

    def after(self, moment: float) -> float:
        """Return the first time after ``moment``."""
        return self._first(moment, reverse=False)

    def before(self, moment: float) -> float:
        """Return the last time before ``moment``."""
        return self._first(moment, reverse=True)

    def _first(self, moment: float, *, reverse: bool) -> float:
        from cronsim import CronSim

        start = datetime.fromtimestamp(moment, UTC).astimezone(self.zone)
        found: datetime = next(CronSim(self.times, start, reverse=reverse))
        return found.timestamp()
