"""One transaction: it begins with its first statement, and its end is never interrupted."""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import attrs
import trio

from fxtrio.db.engine import DatabaseConnection, Engine, Result
from fxtrio.db.errors import CommitUnknown, CopyOpen, IsolationTooLate, TransactionAborted
from fxtrio.db.retrying import Conflicts
from fxtrio.isolation import LEVELS, Isolation
from fxtrio.spans import calling_place, shape_of

LIMIT = 5.0
"""How long the server has for a COMMIT or a ROLLBACK (seconds)."""

log = logging.getLogger("fx.db")

After = tuple[Callable[..., object], tuple[Any, ...]]

_OWN = tuple(__file__.replace("transaction", name) for name in ("database", "proxy", "retrying"))


@attrs.define(eq=False)
class Transaction:
    """A transaction and the connection that it has from its first statement on.

    Tasks that were started in its block share it and take turns.
    """

    engine: Engine
    open: bool = True
    """False once it has ended: a job may have inherited it with its context."""

    isolation: Isolation | None = None
    """Its isolation level; None for the database's default."""

    conflicts: Conflicts = attrs.field(factory=list)
    """Gets the errors that say that others were in its way."""

    after: list[After] = attrs.field(factory=list)
    """Functions to call after the commit."""

    began: float | None = None
    """When it took its connection, on trio's clock (seconds)."""

    _connection: DatabaseConnection | None = None
    _turn: trio.Lock = attrs.field(factory=trio.Lock)
    _copier: trio.lowlevel.Task | None = None
    """The task in the block of a COPY."""

    _savepoints: list[str] = attrs.field(factory=list)
    _opened: int = 0
    _spoiled: str = ""
    """Why it cannot be committed."""

    async def run(self, sql: str, args: Sequence[Any]) -> Result:
        """Run one statement in it."""
        async with self._turns():
            try:
                return await (await self._begun()).run(sql, args)
            except Exception as error:  # the engine's own
                self._note(error)
                raise

    async def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> int:
        """Run one statement for each of ``rows`` in it."""
        async with self._turns():
            try:
                return await (await self._begun()).run_many(sql, rows)
            except Exception as error:  # the engine's own
                self._note(error)
                raise

    async def run_script(self, text: str) -> None:
        """Run the statements of a script in it."""
        async with self._turns():
            try:
                await (await self._begun()).run_script(text)
            except Exception as error:  # the engine's own
                self._note(error)
                raise

    def _note(self, error: Exception) -> None:
        if self.engine.is_conflict(error):
            self.conflicts.append(error)

    @asynccontextmanager
    async def stream(self, sql: str, args: Sequence[Any]) -> AsyncIterator[TurningCursor]:
        """Run a query in it whose rows are fetched in parts."""
        async with self._turns():
            cursor = await (await self._begun()).open_cursor(sql, args)
        try:
            yield TurningCursor(cursor.names, cursor.fetch, self._turn)
        except Exception as error:  # the engine's own, or the application's
            self._note(error)
            raise
        finally:
            with trio.CancelScope(shield=True), trio.move_on_after(LIMIT):
                await cursor.close()

    @asynccontextmanager
    async def copy(self, sql: str, *, whole: bool = True) -> AsyncIterator[Any]:
        """Run a COPY in it; other tasks wait until the block ends. See `open_copy`."""
        async with self._turns():
            connection = await self._begun()
            self._copier = trio.lowlevel.current_task()
            try:
                async with connection.copy(sql, whole=whole) as copy:
                    yield copy
            finally:
                self._copier = None

    def _turns(self) -> trio.Lock:
        """Return the lock that serializes statements. Raises CopyOpen."""
        if self._copier is not None and self._copier is trio.lowlevel.current_task():
            raise CopyOpen
        return self._turn

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        """Roll back the changes of the block alone if it raises."""
        self._opened += 1
        name = f"fx_{self._opened}"
        async with self._turns():
            await (await self._begun()).run(f"savepoint {name}")
            self._savepoints.append(name)
        known = len(self.after)
        try:
            yield
            async with self._turns():
                self._check_order(name)
                if self._state() == "failed":
                    raise TransactionAborted("a statement failed and its error was caught")
                await (await self._begun()).run(f"release savepoint {name}")
        except BaseException:
            del self.after[known:]
            with trio.CancelScope(shield=True), trio.move_on_after(LIMIT):
                if self._state() in ("open", "failed") and not self._spoiled:
                    assert self._connection is not None
                    await self._connection.run(f"rollback to savepoint {name}")
                    await self._connection.run(f"release savepoint {name}")
            raise
        finally:
            if name in self._savepoints:
                self._savepoints.remove(name)

    def _check_order(self, name: str) -> None:
        if self._savepoints[-1] != name:
            self._spoiled = "nested transactions of two tasks overlapped"
            raise TransactionAborted(self._spoiled)

    def call_waiting(self) -> None:
        """Call the functions that waited for the commit; errors do not affect the others."""
        for func, args in self.after:
            try:
                func(*args)
            except BaseException:  # application code
                log.exception("db.after_commit: %r failed; the transaction is committed", func)

    @property
    def has_ended(self) -> bool:
        """Whether the server has no transaction any more, although the connection is there."""
        return self._state() == "idle"

    def _state(self) -> str:
        return "gone" if self._connection is None else self._connection.state

    async def _begun(self) -> DatabaseConnection:
        """Return the connection, in a transaction."""
        if self._connection is None:
            self._connection = await self.engine.acquire()
            self.began = trio.current_time()
            await self._connection.run(self.engine.begin(self.isolation))
        elif self._connection.state in ("idle", "gone"):
            self._spoiled = self._spoiled or "the database has ended it after an error"
            raise TransactionAborted(self._spoiled)
        return self._connection

    async def end(self, error: BaseException | None) -> None:
        """Commit it, or roll it back because of ``error``.

        A cancellation before the COMMIT rolls back, too; a later one has no effect on it.
        Raises TransactionAborted and CommitUnknown.
        """
        connection = self._connection
        if connection is None:
            return
        try:
            if error is None:
                await trio.lowlevel.checkpoint_if_cancelled()
                self._check(connection)
                await self._commit(connection)
        except Exception as failed:  # the engine's own
            self._note(failed)
            raise
        finally:
            # After a COMMIT it is idle, and there is nothing to roll back.
            await self._roll_back(connection)
            self.engine.release(connection)

    def _check(self, connection: DatabaseConnection) -> None:
        if self._spoiled:
            raise TransactionAborted(self._spoiled)
        if connection.state == "failed":
            raise TransactionAborted("a statement failed and its error was caught")
        if connection.state != "open":
            raise TransactionAborted("the database has ended it after an error")

    async def _commit(self, connection: DatabaseConnection) -> None:
        with trio.CancelScope(shield=True):
            try:
                with trio.fail_after(LIMIT):
                    await connection.run("commit")
            except trio.TooSlowError as error:
                connection.finish()
                raise CommitUnknown(f"no answer for {LIMIT:g} s") from error
            except Exception as error:
                if connection.state == "gone":
                    raise CommitUnknown(str(error).strip()) from error
                raise

    async def _roll_back(self, connection: DatabaseConnection) -> None:
        """Roll back. A connection that does not respond is closed, which has the same effect."""
        if self._state() not in ("open", "failed"):
            return
        with trio.CancelScope(shield=True):
            with trio.move_on_after(LIMIT):
                try:
                    await connection.run("rollback")
                except Exception as error:
                    log.warning(
                        "db.transaction: ROLLBACK failed, closing the connection: %s", error
                    )
            if self._state() != "idle":
                connection.finish()


@attrs.define(eq=False)
class TurningCursor:
    """Fetches in turn with the other statements of a transaction."""

    names: tuple[str, ...]
    _fetch: Callable[[], Any]
    _turn: trio.Lock

    async def fetch(self) -> Sequence[Sequence[Any]]:
        """Return the next rows."""
        async with self._turn:
            rows: Sequence[Sequence[Any]] = await self._fetch()
            return rows


def check_inside(outer: Transaction, isolation: Isolation | None) -> None:
    """Raise IsolationTooLate for more than ``outer`` has."""
    has = outer.isolation or outer.engine.isolation
    if isolation is not None and LEVELS.index(isolation) > LEVELS.index(cast("Isolation", has)):
        raise IsolationTooLate(isolation, has)


def opening_place() -> str:
    """Return the file and line of the application that opens a transaction."""
    frame = sys._getframe(1)
    while frame.f_back and (frame.f_code.co_filename in _OWN or _is_contextlib(frame)):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _is_contextlib(frame: Any) -> bool:
    return bool(frame.f_code.co_filename == inspect.getsourcefile(asynccontextmanager))


def log_long(transaction: Transaction, place: str, seconds: float) -> None:
    """Log a transaction that lasted longer than ``seconds``."""
    began = transaction.began
    lasted = 0.0 if began is None else trio.current_time() - began
    if lasted > seconds:
        log.warning(
            "%s: a transaction lasted %.1f s, and held a connection. Do slow work "
            "before it or after it.",
            place,
            lasted,
        )


def log_slow(sql: str, seconds: float, rows: int) -> None:
    """Log a statement that has ended, without any value: arguments may be secrets."""
    log.warning(
        "%s: a statement took %.2f s (%d rows, the wait for a connection included): %s",
        calling_place() or "fxtrio",
        seconds,
        rows,
        shape_of(sql),
    )
