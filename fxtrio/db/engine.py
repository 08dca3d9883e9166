"""The interface of an engine: it lends connections, which run statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from enum import IntEnum
from typing import Any, Literal, Protocol

import msgspec


class Lock(IntEnum):
    """The numbers of the locks that processes of an app take in their database."""

    MIGRATIONS = 7225102
    JOB_TABLES = 7225103
    JOB_CLOCK = 7225104
    AUTH_TABLES = 7225105


class Locks(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """How a transaction keeps others out, where several can write at the same time."""

    wait: str
    """Waits for the lock ``{number}``, and holds it until the transaction ends."""

    attempt: str
    """The same without waiting; its value is false where another transaction holds it."""

    timeout: str
    """Limits how long each statement of the transaction waits for a lock, ``{milliseconds}``."""

    idle: str
    """Lets the transaction hold its locks while it runs no statement."""


class EngineSql(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Parts of statements. Those with names in braces are templates of `str.format`."""

    real: str
    """The type of a column of floating-point numbers with 64 bits."""

    blob: str
    """The type of a column of bytes."""

    keyed_table: str
    """Behind the columns of a table whose primary key is a text or bytes."""

    has_table: str
    """The query for how many tables are called ``{table}``."""

    position: str
    """The function that returns where its second argument is in its first one, 0 for nowhere."""

    skip_locked: str
    """Behind a query: rows that others have locked are passed over."""

    locks: Locks | None
    """None where all writers wait for each other."""

    statements: Callable[[str], list[str]]
    """Divides a script into its statements."""

    restore: str | None
    """Undoes what a script may have set for its connection, which outlives it; None for nothing."""


State = Literal["idle", "open", "failed", "gone"]
"""No transaction; in one; in one that can only be rolled back; the connection is lost."""


class Result(msgspec.Struct, frozen=True):
    """The result of a statement."""

    names: tuple[str, ...]
    """Names of the columns; empty for a statement without rows."""

    rows: Sequence[Sequence[Any]]

    count: int
    """Rows that were changed or found."""


class PoolStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """Statistics of a pool (counts, but for seconds)."""

    size: int
    lent: int
    idle: int
    waiting: int
    waited: int
    """Tasks that had to wait for a connection, since the start."""

    waited_seconds: float
    """For how long, all together."""

    refused: int
    """Tasks that were rejected because too many waited, since the start."""


class Rows(Protocol):
    """Rows that come in parts."""

    names: tuple[str, ...]

    async def fetch(self) -> Sequence[Sequence[Any]]:
        """Return the next rows; none at the end."""
        ...


class Cursor(Rows, Protocol):
    """Rows that come in parts, and are somewhere until it is closed."""

    detached: bool
    """Whether its rows have all been read: it needs its connection no more."""

    async def close(self) -> None:
        """Forget the rest."""
        ...


class DatabaseConnection(Protocol):
    """One connection. Its borrower runs one statement at a time."""

    @property
    def state(self) -> State:
        """Whether it is in a transaction. Known without asking the server."""
        ...

    async def run(self, sql: str, args: Sequence[Any] = ()) -> Result:
        """Run one statement. A cancellation ends it on the server, too."""
        ...

    async def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> int:
        """Run one statement for each of ``rows``; return how many rows it changed."""
        ...

    async def run_script(self, text: str) -> None:
        """Run several statements, without arguments."""
        ...

    def copy(self, sql: str, *, whole: bool) -> AbstractAsyncContextManager[Any]:
        """Run a COPY while the block lasts, whose value is a `fxtrio.db.postgresql.copy.Copy`.

        See there for ``whole``. Raises CopyUnsupported.
        """
        ...

    async def open_cursor(self, sql: str, args: Sequence[Any]) -> Cursor:
        """Run a query whose rows are fetched in parts, in the transaction that is open."""
        ...

    def finish(self) -> None:
        """Close it at once, without a farewell to the server."""
        ...


class Engine(Protocol):
    """Lends connections. Its pool has a bound, and so has the queue before it."""

    @property
    def name(self) -> Literal["sqlite", "postgresql"]:
        """Which SQL it speaks."""
        ...

    @property
    def sql(self) -> EngineSql:
        """What the framework's own statements need to know of that SQL."""
        ...

    @property
    def probe(self) -> str:
        """A query that costs next to nothing, and fails when the database cannot be read."""
        ...

    @property
    def cursors_need_transactions(self) -> bool:
        """Whether rows come in parts within a transaction alone."""
        ...

    @property
    def ends_transactions(self) -> bool:
        """Whether it may roll a transaction back by itself after an error."""
        ...

    def begin(self, isolation: str | None) -> str:
        """Return the statement that begins a transaction."""
        ...

    @property
    def isolation(self) -> str:
        """The default isolation level of transactions."""
        ...

    def is_conflict(self, error: BaseException) -> bool:
        """Whether a transaction conflicted with others, and may commit when it is retried."""
        ...

    @property
    def most_connections(self) -> int | None:
        """How many connections it may open to a server that counts them; None without one."""
        ...

    @property
    def alone(self) -> bool:
        """Whether no other process can see the database."""
        ...

    def statistics(self) -> dict[str, PoolStatistics]:
        """Return those of its pools, by what their connections are for."""
        ...

    async def listen(self, channel: str, call: Callable[[], None]) -> None:
        """Call ``call`` until cancelled, whenever another process may have written."""
        ...

    def is_away(self, error: BaseException) -> bool:
        """Whether an error only means that the database is unreachable."""
        ...

    def cannot_work(self, error: BaseException) -> bool:
        """Whether an error means that the database currently cannot read or write."""
        ...

    def is_unavailable(self, error: BaseException) -> bool:
        """Whether an error means that any other statement would have failed as well."""
        ...

    def reserve(self) -> Engine:
        """Return the same with a place that the application cannot take, for housekeeping.

        Valid as long as this one.
        """
        ...

    async def can_write(self) -> bool:
        """Whether the database accepts writes.

        Tested only after a write was rejected. Raises the engine's errors for an unreachable
        database.
        """
        ...

    async def watch(self) -> None:
        """Monitor open connections until cancelled, or return if there is nothing to monitor."""
        ...

    async def notify(self, channel: str) -> None:
        """Notify the listeners in other processes."""
        ...

    @property
    def under_way(self) -> int:
        """How many statements a server works at; a clock that jumps waits for them (count)."""
        ...

    async def acquire(self, sql: str = "") -> DatabaseConnection:
        """Wait for a connection for one statement, or without one for a transaction.

        Raises DatabaseBusy when too many wait already.
        """
        ...

    def release(self, connection: DatabaseConnection) -> None:
        """Take a connection back, and close it unless it is idle."""
        ...
