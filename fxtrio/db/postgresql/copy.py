"""COPY, the fast way in and out of a table of PostgreSQL. Used through `Database.copy`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from typing import Any

import attrs
import trio
from psycopg.pq import ExecStatus, TransactionStatus

from fxtrio.db.postgresql.psycopg_trio import LIMIT, TrioConnection
from fxtrio.errors import Signal


class LeftEarly(Signal):
    """A block ended before it read all data of a COPY."""


@attrs.define(eq=False)
class Copy:
    """A COPY under way. Valid until its block ends."""

    _raw: Any
    _counted: Callable[[], AbstractContextManager[None]]
    _adapted: Callable[[Any], Any]
    left: LeftEarly | None = None
    """Why it did not come to its end."""

    async def write(self, data: bytes | str) -> None:
        """Send a part of the data, cut anywhere, in the format of the statement."""
        with self._counted():
            await self._raw.write(data)

    async def write_row(self, values: Sequence[Any]) -> None:
        """Send one row; the format of the statement is text, or ``binary`` after `set_types`."""
        with self._counted():
            await self._raw.write_row([*map(self._adapted, values)])

    def set_types(self, types: Sequence[str]) -> None:
        """Set the types of the columns (``"int8"``, ``"timestamptz"``)."""
        self._raw.set_types(types)

    def __aiter__(self) -> Parts:
        """Yield the data as it arrives, a row or less at a time, in the statement's format."""
        return Parts(self._raw.read, self._counted, b"")

    def rows(self) -> Parts:
        """Give one row after the other: text (``None`` for null), or values after `set_types`."""
        return Parts(self._raw.read_row, self._counted, None)


@attrs.frozen(eq=False)
class Parts(AsyncIterator[Any]):
    """The data of a COPY TO. Iterate over it once."""

    _read: Callable[[], Awaitable[Any]]
    _counted: Callable[[], AbstractContextManager[None]]
    _end: Any

    async def __anext__(self) -> Any:
        """Return the next part."""
        with self._counted():
            part = await self._read()
        if part == self._end:
            raise StopAsyncIteration
        return bytes(part) if isinstance(part, memoryview | bytearray) else part


@asynccontextmanager
async def open_copy(
    raw: TrioConnection,
    sql: str,
    counted: Callable[[], AbstractContextManager[None]],
    adapted: Callable[[Any], Any],
    *,
    whole: bool,
) -> AsyncIterator[Copy]:
    """Run a COPY while the block lasts; an error in the block undoes all that it sent.

    If the block leaves a COPY TO early, without an error, the remaining data is read and
    discarded with ``whole``; else the COPY is cancelled on the server, and `Copy.left` is set.
    """
    cursor = raw.cursor()
    block = cursor.copy(sql)
    with counted():
        found = await block.__aenter__()
    copy = Copy(found, counted, adapted)
    try:
        yield copy
        active = raw.pgconn.transaction_status == TransactionStatus.ACTIVE
        if active and cursor.pgresult.status == ExecStatus.COPY_OUT:
            if not whole:
                raise LeftEarly
            async for _ in copy:
                pass
    except BaseException as error:
        with trio.CancelScope(shield=True), trio.move_on_after(LIMIT), counted():
            with suppress(LeftEarly):
                await block.__aexit__(type(error), error, error.__traceback__)
        if not isinstance(error, LeftEarly):
            raise
        copy.left = error
        return
    with counted():
        await block.__aexit__(None, None, None)
