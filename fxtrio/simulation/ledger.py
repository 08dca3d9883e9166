"""Which actions with ``transaction=True`` were committed, in a table beside the application's.

Each action writes the number of its request within its own transaction. A response that says
that it succeeded must have its number there, and one that says that it failed must not.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from fxtrio.db import get_database
from fxtrio.db.errors import DatabaseError
from fxtrio.serve.actions import execution
from fxtrio.serve.actions.result import Result
from fxtrio.serve.actions.transact import transact
from fxtrio.simulation.servers.connection import Connection

TABLE = "fx_simulation"

answering: ContextVar[Connection | None] = ContextVar("fx-simulated-connection", default=None)
"""The connection that the running code answers."""

_transact = transact


def create_table(file: Path) -> None:
    """Create the table in a database."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(f"create table if not exists {TABLE} (id integer primary key)")


def read_committed(file: Path) -> set[int]:
    """Return the numbers of the requests whose transaction was committed."""
    with closing(sqlite3.connect(file)) as database:
        return {number for (number,) in database.execute(f"select id from {TABLE}")}


@contextmanager
def recording() -> Iterator[None]:
    """Let actions write into the table, for the block."""
    module: Any = execution
    module.transact = _recorded
    try:
        yield
    finally:
        module.transact = _transact


async def _recorded(
    run: Callable[[], Awaitable[Any]], checked: Callable[[Any], Result], **others: Any
) -> Result:
    connection = answering.get()

    async def record() -> None:
        if connection is not None:
            insert = f"insert or ignore into {TABLE} values ($1)"
            await get_database().execute(insert, connection.number)

    async def run_and_record() -> Any:
        try:
            value = await run()
        except Exception:
            with suppress(DatabaseError):  # the transaction may be over already
                await record()  # which is undone, too, unless the application has committed it
            raise
        await record()
        return value

    if connection is not None:
        connection.transactional = True
    return await _transact(run_and_record, checked, **others)
