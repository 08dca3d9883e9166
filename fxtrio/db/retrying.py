"""Retries transactions after conflicts. Used through `Database.transaction`.

Serializable transactions of PostgreSQL read and write as if each were alone: of two that
conflict, one fails, as does one of a deadlock. It was rolled back, so it can be retried from
its start.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import attrs
import trio

from fxtrio.db.errors import TransactionConflict
from fxtrio.isolation import LEVELS

RETRIES = 10
"""How often an action that is a transaction runs again (count)."""

_PAUSE = 0.005  # before the second attempt, in seconds; doubled each time
_LONGEST_PAUSE = 0.2

Conflicts = list[BaseException]
"""The database's error about a conflict of a transaction."""

Open = Callable[[Conflicts], AbstractAsyncContextManager[None]]


def check_isolation(level: str | None) -> None:
    """Raise ValueError for a level that there is not."""
    if level is not None and level not in LEVELS:
        names = ", ".join(map(repr, LEVELS))
        raise ValueError(f"isolation must be one of {names}, not {level!r}")


@attrs.define(eq=False)
class TransactionBlock(AbstractAsyncContextManager[None]):
    """What `Database.transaction` returns: a block, or with ``retry`` a loop of blocks."""

    _open_one: Open
    _retry: int
    _turn: trio.Lock
    """Serializes retries, so that they do not conflict with each other."""

    _own: AbstractAsyncContextManager[None] | None = None

    async def __aenter__(self) -> None:
        """Begin. Raises TypeError for a block that is to run again, which no block can."""
        if self._retry:
            raise TypeError(
                "db.transaction(retry=…): a block cannot run itself again. Write "
                "'async for attempt in db.transaction(retry=…):' and in it 'async with attempt:'."
            )
        self._own = self._open_one([])
        await self._own.__aenter__()

    async def __aexit__(self, *how: object) -> bool | None:
        """Commit, or roll back."""
        assert self._own is not None
        return await self._own.__aexit__(*how)  # type: ignore[arg-type]  # one of two shapes

    def __aiter__(self) -> RepeatedBlocks:
        """Yield blocks until one commits, or raises an error that no retry can fix."""
        return RepeatedBlocks(self._open_one, self._retry, self._turn)


@attrs.define(eq=False)
class RepeatedBlocks(AsyncIterator["Attempt"]):
    """The blocks of one loop. Not a generator: an error in the loop would not close it."""

    _open_one: Open
    _retry: int
    _turn: trio.Lock
    _number: int = 0
    _current: Attempt | None = None

    async def __anext__(self) -> Attempt:
        """Return the next attempt, unless the last one committed."""
        if self._number > self._retry or (self._current is not None and self._current.over):
            raise StopAsyncIteration
        last = self._number == self._retry
        self._current = Attempt(self._open_one, self._number, last=last, turn=self._turn)
        self._number += 1
        return self._current


@attrs.define(eq=False)
class Attempt(AbstractAsyncContextManager[None]):
    """One attempt at a transaction: ``async with attempt:``."""

    _open_one: Open
    number: int
    """Counted from 0."""

    _last: bool = attrs.field(kw_only=True)
    _turn: trio.Lock = attrs.field(kw_only=True)
    over: bool = attrs.field(init=False, default=False)
    """Whether no further attempt is needed."""

    _conflicts: Conflicts = attrs.field(init=False, factory=list)
    _own: AbstractAsyncContextManager[None] = attrs.field(init=False)

    async def __aenter__(self) -> None:
        """Begin; the second attempt and all later ones wait for their turn in the process."""
        self._own = self._open_one(self._conflicts)
        if self.number:
            pause = min(_PAUSE * 2**self.number, _LONGEST_PAUSE)
            await trio.sleep(random.uniform(0, pause))
            await self._turn.acquire()
        try:
            await self._own.__aenter__()
        except BaseException:
            self._give_up_turn()
            raise

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """Commit, or roll back. A conflict is swallowed while there are attempts left.

        Raises TransactionConflict after the last one.
        """
        failed = error
        try:
            suppressed = await self._own.__aexit__(kind, error, trace)  # type: ignore[arg-type]
            if suppressed:
                failed = None
        except Exception as raised:  # which may be `error`: the caller judges it
            failed = raised
        finally:
            self._give_up_turn()
        if self._conflicts and isinstance(failed, Exception):
            if self._last:
                self.over = True
                raise TransactionConflict(self.number + 1) from failed
            return True
        self.over = True
        if failed is not None and failed is not error:
            raise failed
        return failed is None

    def _give_up_turn(self) -> None:
        if self.number:
            self._turn.release()
