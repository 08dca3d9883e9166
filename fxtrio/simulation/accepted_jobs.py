"""Which durable jobs an app has accepted: `enqueue` has returned, and their rows were committed.

What became of them is in the database: `read_jobs`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import attrs

from fxtrio.jobs.store import JobStore

_add, _purge = JobStore.add, JobStore.purge


@attrs.define(eq=False)
class AcceptedJobs:
    """The durable jobs that processes have accepted, and how long these could run them."""

    names: dict[int, str] = attrs.field(factory=dict)
    """By number."""

    ready: tuple[float, float] | None = None
    """From when until when a process had a free worker (seconds since 1970); None for never."""


@attrs.frozen
class StoredJob:
    """A job in the database."""

    state: str
    due: float
    """When it is to run (seconds since 1970)."""

    paused: bool
    """Whether its queue is."""


@contextmanager
def recorded_jobs() -> Iterator[AcceptedJobs]:
    """Return the jobs that are accepted in the block.

    Meanwhile no process deletes jobs that have ended.
    """
    accepted = AcceptedJobs()
    names = accepted.names

    async def add(
        self: JobStore, *, name: str, after: Callable[[], None], **row: Any
    ) -> int | None:
        number: int | None = None
        committed = False

        def after_commit() -> None:
            nonlocal committed
            committed = True
            if number is not None:
                names[number] = name
            after()

        number = await _add(self, name=name, after=after_commit, **row)
        if committed and number is not None:  # without a transaction around it
            names[number] = name
        return number

    async def purge(self: JobStore, state: str, before: float) -> int:
        return 0

    store: Any = JobStore
    store.add, store.purge = add, purge
    try:
        yield accepted
    finally:
        store.add, store.purge = _add, _purge


def read_jobs(file: Path) -> dict[int, StoredJob]:
    """Return the jobs in a database, by their number."""
    paused = "queue in (select queue from fx_paused)"
    with closing(sqlite3.connect(file)) as database:
        rows = database.execute(f"select id, state, due, {paused} from fx_jobs")
        return {
            number: StoredJob(state, due, bool(is_paused)) for number, state, due, is_paused in rows
        }
