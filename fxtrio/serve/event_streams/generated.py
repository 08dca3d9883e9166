"""The values of an async generator, taken by another task in batches.

The generator runs in a task of its own, so nurseries and cancel scopes around its yields are
sound (PEP 789). `trio.as_safe_channel` does the same at three times the cost: a memory channel
and a semaphore for each value. Here a value is put into a batch, which the reader takes whole.

A server that takes parts of a response without waiting gets the batch from the generator's own
task, as soon as the generator waits: waking the reader for it doubles the cost of a value.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from math import inf
from types import coroutine
from typing import Any, Final

import trio

from fxtrio.application_errors import application_error
from fxtrio.asgi_extensions import WholeResponse

log = logging.getLogger("fx.serve")

BATCH: Final = 16 * 1024
"""A generator that does not wait is stopped at this size of a batch (bytes)."""


class Generated:
    """One run of an async generator.

    The buffer is one batch: what the generator yields without waiting, up to `BATCH`, and while
    the reader is busy with a batch, one more value. Then the generator waits at its ``yield``.
    """

    __slots__ = (
        "_batch",
        "_encoded",
        "_error",
        "_generator",
        "_is_abandoned",
        "_is_over",
        "_is_unsent",
        "_is_writing",
        "_opened",
        "_place",
        "_reader",
        "_size",
        "direct",
        "written_at",
    )

    def __init__(
        self,
        opened: Callable[[], Awaitable[AsyncGenerator[Any, None]]],
        encoded: Callable[[Any], bytes],
        place: str,
    ) -> None:
        """``opened`` returns the generator; ``encoded`` may raise, which the ``yield`` raises.

        ``place`` names it for messages.
        """
        self._opened = opened
        self._encoded = encoded
        self._place = place
        self._batch: list[bytes] = []
        self._size = 0
        self._is_over = False
        self._is_abandoned = False
        """Whether nobody takes values any more: the task of the generator is cancelled."""

        self._is_writing = False
        """Whether the reader is busy with the batch before."""

        self._is_unsent = False
        """Whether the reader has to flush what was written for it."""

        self.direct: WholeResponse | None = None
        """What takes batches without waiting; the reader sets it once that is possible."""

        self.written_at = -inf
        """When a batch was last given to it (`trio.current_time`)."""

        self._generator: trio.lowlevel.Task | None = None
        """The task of the generator, while it waits for the reader."""

        self._reader: trio.lowlevel.Task | None = None
        """The task that waits for a value."""

        self._error: BaseException | None = None

    async def run(self) -> None:
        """Run the generator to its end. Raises only what ends the task itself: a cancellation.

        Can be called once.
        """
        step: Coroutine[Any, Any, Any] | None
        try:
            generator = await self._opened()
            step = generator.__anext__()
            ignored = 0
            while True:
                value = await self._next(step)
                try:
                    await self._put(self._encoded(value))
                except BaseException as raised:  # a yield is a checkpoint like any other
                    ignored += self._is_abandoned
                    if ignored > 1:  # it would be cancelled at each yield, for ever
                        await self._close(generator)
                        raise
                    step = generator.athrow(raised)
                else:
                    step = generator.__anext__()
        except StopAsyncIteration:
            pass
        except BaseException as raised:  # application code
            self._error = application_error(raised)
        finally:
            self._is_over = True
            # Without cycles a stream is freed when it ends: what is called may hold this object,
            # and what was thrown into the generator has this frame in its traceback.
            del self._opened, self._encoded
            step = None
            self._wake_reader()

    def take_error(self) -> BaseException | None:
        """Return what the generator has raised, and forget it: its traceback holds this object."""
        error, self._error = self._error, None
        return error

    @coroutine
    def _next(self, step: Coroutine[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """Return the value of ``step``, and end the turn before it waits for anything."""
        try:
            trap = step.send(None)
            if self._batch:
                self._end_turn()  # never raises: what the generator waits for is on its way
            while True:
                try:
                    resumed = yield trap
                except BaseException as raised:  # for the generator, which waits
                    trap = step.throw(raised)
                else:
                    try:
                        trap = step.send(resumed)
                    finally:
                        del resumed  # of a cancellation, whose traceback has this frame
        except StopIteration as returned:
            return returned.value

    def _end_turn(self) -> None:
        """Write the batch where that needs no waiting, or let the reader do it."""
        if self._reader is None:  # it is busy, and takes the batch afterwards
            return
        if self.direct is None:
            self._wake_reader()
            return
        batch = b"".join(self._batch)
        self._batch.clear()
        self._size = 0
        self.written_at = trio.current_time()
        if not self.direct.write_part(batch):
            self._is_unsent = self._is_writing = True
            self._wake_reader()

    def abandon(self) -> None:
        """Let a generator that ignores its cancellation be closed at its next ``yield``."""
        self._is_abandoned = True

    async def _close(self, generator: AsyncGenerator[Any, None]) -> None:
        log.error("%s: continued after it was cancelled. Do not catch Cancelled.", self._place)
        await generator.aclose()

    async def take(self) -> bytes | None:
        """Wait for values, and return all that are there; None at the end.

        None of them, b"", are left to be sent by ``direct.flush`` when it could not take all.
        It can be cancelled, and called again, without a loss. The generator goes on only once
        this is called again, but for the one value that it has begun with.
        """
        self._is_writing = False
        while not (
            self._batch or self._is_over or self._is_unsent
        ):  # again after a taken-back value
            self._wake_generator()
            self._reader = trio.lowlevel.current_task()
            await trio.lowlevel.wait_task_rescheduled(self._forget_reader)
        if self._is_unsent:
            self._is_unsent = False
            self._is_writing = True
            return b""
        if not self._batch:
            return None
        batch = b"".join(self._batch)
        self._batch.clear()
        self._size = 0
        self._is_writing = True
        self._wake_generator()
        return batch

    async def _put(self, value: bytes) -> None:
        """Add a value. One whose ``yield`` is cancelled while it waits is not sent.

        Otherwise a generator with a timeout around its ``yield`` would fill the memory while
        the reader is busy.
        """
        if self._is_abandoned:
            await trio.lowlevel.checkpoint()  # raises the cancellation
        self._batch.append(value)
        self._size += len(value)
        if self._is_writing or self._size >= BATCH:
            self._wake_reader()
            self._generator = trio.lowlevel.current_task()
            await trio.lowlevel.wait_task_rescheduled(self._take_back)

    def _wake_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            trio.lowlevel.reschedule(reader)

    def _wake_generator(self) -> None:
        generator, self._generator = self._generator, None
        if generator is not None:
            trio.lowlevel.reschedule(generator)

    def _forget_reader(self, raise_cancel: object) -> trio.lowlevel.Abort:
        self._reader = None
        return trio.lowlevel.Abort.SUCCEEDED

    def _take_back(self, raise_cancel: object) -> trio.lowlevel.Abort:
        self._generator = None
        self._size -= len(self._batch.pop())  # nobody else adds values
        return trio.lowlevel.Abort.SUCCEEDED
