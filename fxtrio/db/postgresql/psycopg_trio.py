"""psycopg 3.3 on trio: its asynchronous connection, which waits through trio.

All else is psycopg's own: adaptation, cursors, pipelines, prepared statements. Its private
names (``_connect_gen``, ``_cancel_gen``, ``_enter_gen``, ``_exit_gen``, ``_reset``,
``_prepared``) are used only here and in `prepared`; the extra ``fxtrio[postgres]`` pins the
version.
Unlike psycopg on asyncio, a cancelled query is also cancelled on the server and leaves its
connection usable, and COMMIT and ROLLBACK have `LIMIT` and are never interrupted.
"""

from __future__ import annotations

import secrets
import select
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager
from math import inf
from time import perf_counter
from typing import Any, Self

import psycopg
import trio
from psycopg import AsyncConnection, AsyncRawCursor, AsyncTransaction
from psycopg import errors as e
from psycopg._conninfo_utils import get_param, is_ip_address, split_attempts
from psycopg._enums import Ready, Wait
from psycopg._preparing import Prepare, PrepareManager
from psycopg.conninfo import conninfo_attempts, timeout_from_conninfo
from psycopg.pq import ConnStatus, TransactionStatus

from fxtrio.limiters import limiter_of

LIMIT = 5.0
"""How long the server has for a cancellation, a COMMIT or a ROLLBACK (seconds)."""

TURN = 0.005
"""Longest time that a connection runs without a checkpoint while its socket never blocks
(seconds)."""

Steps = Generator[Any, Any, Any]
"""psycopg's form of an operation: a generator that yields awaited events, and is sent results."""

_READ, _WRITE, _NONE = Ready.R, Ready.W, Ready.NONE


class TrioConnection(AsyncConnection):
    """An `AsyncConnection` for trio. Cancelling a query also cancels it on the server."""

    def __init__(self, pgconn: Any, row_factory: Any = psycopg.rows.tuple_row) -> None:
        super().__init__(pgconn, row_factory)
        self.lock = QuickLock()
        self._turn_began = perf_counter()

    @classmethod
    async def connect(
        cls,
        conninfo: str = "",
        *,
        autocommit: bool = False,
        prepare_threshold: int | None = 5,
        context: Any = None,
        row_factory: Any = None,
        cursor_factory: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Connect to the first server of ``conninfo`` that responds. Raises psycopg's errors."""
        params = await cls._get_connection_params(conninfo, **kwargs)
        conn = await cls._first(params, timeout_from_conninfo(params))
        conn._autocommit = bool(autocommit)
        if row_factory:
            conn.row_factory = row_factory
        if cursor_factory:
            conn.cursor_factory = cursor_factory
        if context:
            conn._adapters = psycopg.adapt.AdaptersMap(context.adapters)
        conn.prepare_threshold = prepare_threshold
        return conn

    @classmethod
    async def _first(cls, params: dict[str, Any], timeout: float) -> Self:
        attempts = await _attempts(params)
        failures: list[tuple[Any, str]] = []
        for attempt in attempts:
            text = psycopg.conninfo.make_conninfo("", **attempt)
            tried = tuple(attempt.get(key) for key in ("host", "port", "hostaddr"))
            tried_host = "host: {!r}, port: {!r}, hostaddr: {!r}".format(*tried)
            try:
                connection: Self = await _wait_connecting(cls._connect_gen(text), timeout)
                return connection
            except e._WaitTimeout:
                failures.append((e.ConnectionTimeout("connection timeout expired"), tried_host))
            except e.Error as error:
                failures.append((error, tried_host))
        last = failures[-1][0]
        if len(failures) == 1:
            raise last.with_traceback(None)
        lines = [str(last), "Multiple connection attempts failed. All failures were:"]
        lines += [f"- {tried_host}: {error}" for error, tried_host in failures]
        raise type(last)("\n".join(lines), pgconn=last.pgconn).with_traceback(None)

    @property
    def heard(self) -> float:
        """When it last received data or was scheduled, by `perf_counter`."""
        return self._turn_began

    def name_statements(self) -> None:
        """Prepare statements under names that no other connection has."""
        self._prepared = StatementNames()

    def forget_prepared(self) -> None:
        """Prepare all statements again: the server has lost them."""
        if isinstance(self._prepared, StatementNames):
            self._prepared.forget()

    async def wait(self, gen: Steps, interval: float = 0.1, timeout: float | None = None) -> Any:
        """Run an operation to its end. A cancellation cancels it on the server."""
        pgconn = self.pgconn
        try:
            return await self._steps(gen, timeout)
        except (trio.Cancelled, KeyboardInterrupt, SystemExit):
            if pgconn.status == ConnStatus.OK and (
                pgconn.transaction_status == TransactionStatus.ACTIVE
            ):
                with trio.CancelScope(shield=True):
                    await self._interrupt(gen)
            raise

    async def _interrupt(self, gen: Steps) -> None:
        """Cancel the query on the server and read its end; without one, close the connection."""
        try:
            await _wait_connecting(self._cancel_gen(), LIMIT)
            await self._steps(gen, LIMIT, first=_NONE)
        except e.QueryCanceled:
            pass
        except BaseException as error:
            self.pgconn.finish()
            if not isinstance(error, Exception):
                raise

    async def _steps(self, gen: Steps, timeout: float | None, first: Any = None) -> Any:
        """Feed an operation until it ends. Raises psycopg's timeout, and Cancelled."""
        fd = self.pgconn.socket
        deadline = inf if timeout is None else trio.current_time() + timeout
        try:
            want = next(gen) if first is None else gen.send(first)
            if want & Wait.W and deadline == inf:
                want = gen.send(_WRITE)  # it nearly always is: libpq says when it was not
            while True:
                if deadline == inf:
                    want = gen.send(await self._ready(fd, want))
                    continue
                # At least one look, also when there is no time.
                ready = _ready_now(fd, want)
                if not ready:
                    with trio.move_on_at(deadline) as scope:
                        ready = await self._ready(fd, want)
                    if scope.cancelled_caught:
                        raise e._WaitTimeout("wait timeout expired")
                want = gen.send(ready)
        except StopIteration as done:
            if perf_counter() - self._turn_began > TURN:
                # It is complete, and cancellation must not hide that: a shielded checkpoint.
                await trio.lowlevel.cancel_shielded_checkpoint()
                self._turn_began = perf_counter()
            return done.value
        except (OSError, trio.ClosedResourceError) as error:
            raise e.OperationalError("connection socket closed") from error

    async def _ready(self, fd: int, want: int) -> int:
        if not want & Wait.W:
            await trio.lowlevel.wait_readable(fd)
            self._turn_began = perf_counter()
            return int(_READ)
        if perf_counter() - self._turn_began > TURN:
            await trio.lowlevel.checkpoint()
            self._turn_began = perf_counter()
        # A socket that waits for writing is nearly always writable.
        return _ready_now(fd, want) or await _wait_ready(fd, want)

    async def cancel_safe(self, *, timeout: float = 30.0) -> None:
        """Ask the server to cancel the running query."""
        if self._should_cancel():
            try:
                await _wait_connecting(self._cancel_gen(), timeout)
            except e._WaitTimeout:
                raise e.CancellationTimeout("cancellation timeout expired") from None

    async def commit(self) -> None:
        """Commit, whatever is cancelled meanwhile."""
        with trio.CancelScope(shield=True), trio.fail_after(LIMIT):
            await super().commit()

    async def rollback(self) -> None:
        """Roll back, whatever is cancelled meanwhile."""
        with trio.CancelScope(shield=True), trio.fail_after(LIMIT):
            await super().rollback()

    async def close(self) -> None:
        """Close the connection, and wake the tasks that wait on it."""
        if not self.closed and self.pgconn.status == ConnStatus.OK:
            trio.lowlevel.notify_closing(self.pgconn.socket)
        await super().close()

    @asynccontextmanager
    async def transaction(
        self, savepoint_name: str | None = None, force_rollback: bool = False
    ) -> AsyncIterator[TrioTransaction]:
        """Open psycopg's own transaction block."""
        block = TrioTransaction(self, savepoint_name, force_rollback)
        if self._pipeline:
            async with self.pipeline(), block, self.pipeline():
                yield block
        else:
            async with block:
                yield block


class StatementCursor(AsyncRawCursor[Any]):
    """A cursor for successive statements: most of its state is created once."""

    def forget(self) -> None:
        """Let go of the last result."""
        self._reset()
        self._tx.set_pgresult(None)


class QuickLock:
    """A lock without a checkpoint if it is free: the operation under it is one."""

    def __init__(self) -> None:
        self._lock = trio.Lock()

    async def __aenter__(self) -> None:
        """Take it."""
        try:
            self._lock.acquire_nowait()
        except trio.WouldBlock:
            await self._lock.acquire()

    async def __aexit__(self, *how: object) -> None:
        """Give it back."""
        self._lock.release()

    def locked(self) -> bool:
        """Whether the lock is held."""
        return self._lock.locked()


class TrioTransaction(AsyncTransaction):
    """A block that ends with all of COMMIT or all of ROLLBACK."""

    async def __aenter__(self) -> Self:
        async with self._conn.lock:
            self._check_enter()
            try:
                await self._conn.wait(self._enter_gen())
            except BaseException as error:
                if self.pgconn.status == ConnStatus.OK:
                    leave = self._exit_gen(type(error), error, None)
                    with trio.CancelScope(shield=True):
                        await self._conn.wait(leave, timeout=LIMIT)
                else:
                    self.status = self.Status.FAILED
                raise
        return self

    async def __aexit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        if error is None:
            try:
                await trio.lowlevel.checkpoint_if_cancelled()
            except trio.Cancelled as cancelled:  # nothing is committed yet
                await self._end(type(cancelled), cancelled, cancelled.__traceback__)
                raise
        return await self._end(kind, error, traceback)

    async def _end(self, *how: Any) -> Any:
        with trio.CancelScope(shield=True):
            try:
                with trio.fail_after(LIMIT):
                    return await super().__aexit__(*how)
            except trio.TooSlowError:
                self.pgconn.finish()
                raise e.OperationalError("the end of a transaction is unknown") from None


async def _attempts(params: dict[str, Any]) -> list[dict[str, Any]]:
    """Return each server to try. Raises OperationalError when no name is known."""
    hosts = [
        (get_param(each, "host"), get_param(each, "hostaddr")) for each in split_attempts(params)
    ]
    if all(address or not host or host[0] == "/" or is_ip_address(host) for host, address in hosts):
        return list(conninfo_attempts(params))
    # Names are looked up by getaddrinfo, which blocks, and which nothing ends.
    return await trio.to_thread.run_sync(
        lambda: list(conninfo_attempts(params)),
        abandon_on_cancel=True,
        limiter=limiter_of("names"),
    )


async def _wait_connecting(gen: Steps, timeout: float | None = None) -> Any:
    """Run an operation that says each time which file it waits for."""
    try:
        fd, want = next(gen)
        with trio.move_on_after(timeout or inf):
            while True:
                fd, want = gen.send(_ready_now(fd, want) or await _wait_ready(fd, want))
    except StopIteration as done:
        return done.value
    raise e._WaitTimeout("wait timeout expired")


def _ready_now(fd: int, want: int) -> int:
    poll = select.poll()
    events = bool(want & Wait.R) * select.POLLIN | bool(want & Wait.W) * select.POLLOUT
    poll.register(fd, events)
    found = dict(poll.poll(0)).get(fd, 0)
    readable = _READ if found & ~select.POLLOUT else _NONE
    return int(readable | (_WRITE if found & select.POLLOUT else _NONE))


async def _wait_ready(fd: int, want: int) -> int:
    """Wait until a file is readable or writable, as ``want`` says; with both, for the first."""
    if not want & Wait.W:
        await trio.lowlevel.wait_readable(fd)
        return int(_READ)
    if not want & Wait.R:
        await trio.lowlevel.wait_writable(fd)
        return int(_WRITE)
    ready = int(_NONE)

    async def wait_one(wait: Callable[[int], Awaitable[None]], flag: int) -> None:
        nonlocal ready
        await wait(fd)
        ready |= flag
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait_one, trio.lowlevel.wait_readable, int(_READ))
        nursery.start_soon(wait_one, trio.lowlevel.wait_writable, int(_WRITE))
    return ready


# psycopg counts from ``_pg3_0`` in each connection. If a pooler shares one server connection
# among several clients, one client's name may denote the statement of another, which would
# run in its place. With random names this is an error, and no statement runs.
class StatementNames(PrepareManager):
    """psycopg's own account of prepared statements, with names of the connection's own."""

    def __init__(self) -> None:
        super().__init__()
        self._prefix = f"fx_{secrets.token_hex(8)}_"

    def get(self, query: Any, prepare: bool | None = None) -> tuple[Prepare, bytes]:
        """Return whether a query is prepared, or should be, and its name."""
        how, name = super().get(query, prepare)
        if how is Prepare.SHOULD:
            name = f"{self._prefix}{self._prepared_idx}".encode()
        return how, name

    def forget(self) -> None:
        """Prepare all statements again: the server has lost them."""
        self._names.clear()
        self._counts.clear()
        self._to_flush.clear()
