"""Which durable jobs an app has accepted: `enqueue` has returned, and their rows were committed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from fxtrio.jobs.store import JobStore

_add, _purge = JobStore.add, JobStore.purge


@contextmanager
def recorded_jobs() -> Iterator[dict[int, str]]:
    """Return the names of all jobs that are accepted in the block, by their number.

    Meanwhile no process deletes jobs that have ended.
    """
    accepted: dict[int, str] = {}

    async def add(
        self: JobStore, *, name: str, after: Callable[[], None], **row: Any
    ) -> int | None:
        number: int | None = None
        committed = False

        def after_commit() -> None:
            nonlocal committed
            committed = True
            if number is not None:
                accepted[number] = name
            after()

        number = await _add(self, name=name, after=after_commit, **row)
        if committed and number is not None:  # without a transaction around it
            accepted[number] = name
        return number

    async def purge(self: JobStore, state: str, before: float) -> int:
        return 0

    store: Any = JobStore
    store.add, store.purge = add, purge
    try:
        yield accepted
    finally:
        store.add, store.purge = _add, _purge


def read_states(file: Path) -> dict[int, str]:
    """Return the state of each job in a database, by its number."""
    with closing(sqlite3.connect(file)) as database:
        return dict(database.execute("select id, state from fx_jobs"))
