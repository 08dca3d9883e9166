"""`@job` and `@every`: functions that may be enqueued to run later, in any process of the app."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from math import inf
from typing import Any, Generic, ParamSpec

import attrs

from fxtrio.context import current_app, get_request_id
from fxtrio.jobs.faults import JobArgumentsInvalid, JobKeyInvalid, JobsNotRunning
from fxtrio.jobs.schedule import Schedule
from fxtrio.tasks.calls import name_of

P = ParamSpec("P")

Unique = bool | Callable[..., str | None]


LONGEST_DELAY = 100 * 365 * 86_400.0
"""Beyond it moments have no dates, by which people look for jobs (seconds)."""


@attrs.frozen(eq=False, kw_only=True)
class Job(Generic[P]):
    """A function that can be enqueued. Calling it runs the function, here and now."""

    function: Callable[P, Any]

    name: str
    """``module.qualified_name``, by which the database knows it: renaming loses what waits."""

    retries: int
    """How often it is tried again after an error (count)."""

    timeout: float
    """How long one try may take (seconds)."""

    backoff: float
    """Before the first retry; twice as long before each further one (seconds)."""

    unique: Unique
    atomic: bool
    queue: str
    schedule: Schedule | None = None

    __fx_job__ = True
    """By which `fx.tasks.enqueue` knows it, and refuses it."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Call the function itself."""
        return self.function(*args, **kwargs)

    async def enqueue(self, *args: Any, delay: float = 0.0, **kwargs: Any) -> int | None:
        """Keep one run of it in the database and return its number.

        It is part of the transaction around: run after that is committed, and never when it
        is not. ``delay`` is in seconds. None when it is ``unique`` and waits or runs
        already. Raises JobsNotRunning, JobArgumentsInvalid, JobKeyInvalid, ValueError for a
        ``delay`` above `LONGEST_DELAY`, and what the database raises.
        """
        if not delay <= LONGEST_DELAY:  # nan is not, either
            raise ValueError(f"{self.name}: the delay is {delay!r} s. It may be 100 years.")
        app = current_app()
        runner = None if app is None else app.jobs
        if runner is None:
            raise JobsNotRunning(self.name)
        runner.jobs[self.name] = self  # its module may have been imported late, or again
        number: int | None = await runner.store.add(
            name=self.name,
            queue=self.queue,
            args=self._encoded(args, kwargs),
            key=self._key(args, kwargs),
            due=runner.now() + delay,
            request_id=get_request_id(),
            after=runner.tell if delay <= 0 else runner.wake,
        )
        return number

    def _encoded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        try:
            return json.dumps([args, kwargs], allow_nan=False, separators=(",", ":"))
        except (TypeError, ValueError) as error:
            raise JobArgumentsInvalid(self.name, str(error)) from error

    def _key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
        """Return what no two runs that wait or run have alike; None for no such rule."""
        if callable(self.unique):
            key = self.unique(*args, **kwargs)
            if key is not None and not (isinstance(key, str) and _can_be_kept(key)):
                raise JobKeyInvalid(self.name, key)
            return key
        return json.dumps([args, kwargs], sort_keys=True) if self.unique else None


def _can_be_kept(text: str) -> bool:
    """Tell whether every engine can hold a text."""
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def job(
    *,
    retries: int = 3,
    timeout: float = inf,
    backoff: float = 1.0,
    unique: Unique = False,
    atomic: bool = False,
    queue: str = "default",
) -> Callable[[Callable[P, Any]], Job[P]]:
    """Make a function of a module a durable job, run at least once.

    It is tried ``1 + retries`` times, ``timeout`` seconds at most each, with pauses of
    ``backoff``, twice ``backoff`` and so on, 30 days at most. ``unique`` keeps only one run
    with the same arguments waiting or running; a function of the arguments returns another
    key for that, or None. What an ``atomic`` one does to `fx.db` is kept together with its
    end, so that its effect there is exactly once. ``queue`` is a name by which processes can
    choose.
    """

    def declare(function: Callable[P, Any]) -> Job[P]:
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
        )

    return declare


def every(times: str, *, tz: str = "UTC", **options: Any) -> Callable[[Callable[[], Any]], Job[[]]]:
    """Make a function without parameters a job that is enqueued at each of ``times``.

    ``times`` are the five fields of cron, in the time zone ``tz``: a time that a change of
    the clock leaves out comes right after the change, one that comes twice is run once. Of
    what came while no process ran, the last one is made up for. ``options`` are those of
    `job`. Raises CronInvalid.
    """
    schedule = Schedule.read(times, tz)

    def declare(function: Callable[[], Any]) -> Job[[]]:
        return attrs.evolve(job(**options)(function), schedule=schedule)

    return declare
