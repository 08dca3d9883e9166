"""A task that reads a WebSocket while its application does something else.

An application reads by waiting in ``receive``, which costs no second task. One that is busy for
longer, such as with a query or with sending, would answer no ping and notice no disconnect
meanwhile, so a task reads for it until it comes back, or until enough messages wait for it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

_AWAY = 4
"""Ticks that the application may be busy before the task starts: most waits are shorter, and a
task for each of them would cost more than the reading."""


class ReadAhead:
    """Starts and stops the task."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._away = 0  # ticks since the application last came to receive
        self._scope: trio.CancelScope | None = None
        self._stopped = trio.Event()

    @property
    def is_reading(self) -> bool:
        """Whether the task has the socket; nobody else may read it then."""
        return self._scope is not None

    def came_back(self) -> None:
        """Count the time that the application is away from now on."""
        self._away = 0

    def tick(
        self, read: Callable[[], Awaitable[None]], may_read: Callable[[], bool], *, receiving: bool
    ) -> None:
        """Start the task once the application has been away for long enough.

        ``read`` reads once; ``may_read`` says whether to go on. They are passed with each call:
        stored, they would keep a WebSocket that is over in memory until the garbage collector
        finds the circle.
        """
        self._away += 1
        if self._away > _AWAY and self._scope is None and not receiving and may_read():
            self._scope = trio.CancelScope()
            self._nursery.start_soon(self._run, self._scope, read, may_read)

    async def stop(self) -> None:
        """Take the socket back: end the task, and wait until it has let go."""
        while self._scope is not None:
            self._scope.cancel()
            await self._stopped.wait()

    async def _run(
        self,
        scope: trio.CancelScope,
        read: Callable[[], Awaitable[None]],
        may_read: Callable[[], bool],
    ) -> None:
        with scope:
            while may_read():
                await read()
        self._scope = None
        self._stopped.set()
        self._stopped = trio.Event()
