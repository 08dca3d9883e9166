"""A mock clock that waits for worker threads, for the asyncio loop, and for other processes.

`trio.testing.MockClock` jumps when every task is blocked, and a task that waits for a
thread is: deadlines pass that no second has gone by for. While the app runs, such a
clock jumps only when no thread works for it and no other process owes it anything.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from math import inf

import attrs
import trio
from trio.testing import MockClock, active_thread_count

from fxtrio.serve.pages.resources import Renderer, RenderParts
from fxtrio.ssr.frames import Rendered

THRESHOLD = 5.0
"""How long nothing may happen before the clock jumps all the same (seconds of the real
clock): a thread that waits for the mock clock itself would else wait for ever."""


@attrs.define(eq=False)
class HeldClock(trio.abc.Instrument):
    """Raises the threshold of a clock that jumps by itself for as long as there is a reason."""

    _clock: MockClock
    _reasons: int = 0
    _processes: int = 0
    """How many other processes are waited for that know nothing of the clock."""

    _counts: list[Callable[[], int]] = attrs.field(factory=lambda: [active_thread_count])
    """Each tells how much work is under way that no task of the run does itself."""
    _own: float = inf
    """The clock's own threshold, while `_set` is that of the clock."""

    _set: float | None = None

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        """Hold the clock or let it go: a thread begins and ends in a step of some task."""
        self._decide()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the clock for the length of the block, in which something may wait for it."""
        self._reasons += 1
        self._decide()
        try:
            yield
        finally:
            self._reasons -= 1
            self._decide()

    @contextmanager
    def hold_for_process(self) -> Iterator[None]:
        """Hold the clock for the length of the block, however long another process takes."""
        self._processes += 1
        self._decide()
        try:
            yield
        finally:
            self._processes -= 1
            self._decide()

    @contextmanager
    def hold_while(self, count: Callable[[], int]) -> Iterator[None]:
        """Hold the clock whenever ``count`` is above 0, for the length of the block."""
        self._counts.append(count)
        try:
            yield
        finally:
            self._counts.remove(count)
            self._decide()

    def release(self) -> None:
        """Give the clock its own threshold back."""
        self._set_to(0.0)

    def _decide(self) -> None:
        if self._processes:
            self._set_to(inf)
        elif self._reasons or any(count() for count in self._counts):
            self._set_to(THRESHOLD)
        else:
            self._set_to(0.0)

    def _set_to(self, least: float) -> None:
        """Let the clock wait ``least`` seconds, or as long as it does by itself."""
        now = self._clock.autojump_threshold
        if now != self._set:  # the test has set it meanwhile
            self._own = now
        self._set = max(self._own, least)
        if now != self._set:
            self._clock.autojump_threshold = self._set


def holding(
    open_renderer: Callable[[], AbstractAsyncContextManager[Renderer]], held: HeldClock | None
) -> Callable[[], AbstractAsyncContextManager[Renderer]]:
    """Return what opens a renderer for which the clock is held; the same without a clock."""
    if held is None:
        return open_renderer

    @asynccontextmanager
    async def open_holding() -> AsyncIterator[Renderer]:
        async with AsyncExitStack() as stack:
            with held.hold_for_process():  # the processes start
                renderer = await stack.enter_async_context(open_renderer())
            try:
                yield HoldingRenderer(renderer, held)
            finally:
                with held.hold():  # they end, or are killed after a while by this clock
                    await stack.aclose()

    return open_holding


@contextmanager
def held_clock() -> Iterator[HeldClock | None]:
    """Let a mock clock that drives this run wait for threads, for the length of the block.

    Gives None on every other clock.
    """
    clock = trio.lowlevel.current_clock()
    if not isinstance(clock, MockClock):
        yield None
        return
    held = HeldClock(clock)
    trio.lowlevel.add_instrument(held)
    try:
        yield held
    finally:
        trio.lowlevel.remove_instrument(held)
        held.release()


@attrs.frozen(eq=False)
class HoldingRenderer:
    """Renders, and holds the clock until Node has answered.

    Of a stream that is its first part; what comes later waits for the app's own values.
    """

    _renderer: Renderer
    _held: HeldClock

    async def render(self, page: int, payload: bytes) -> Rendered:
        """Return the render of the view with the id ``page``."""
        with self._held.hold():
            return await self._renderer.render(page, payload)

    @asynccontextmanager
    async def stream(self, page: int, payload: bytes) -> AsyncIterator[RenderParts]:
        """Render a view in parts, for the length of the block."""
        async with self._renderer.stream(page, payload) as parts:
            yield _HoldingParts(parts, self._held)


@attrs.frozen(eq=False)
class _HoldingParts:
    _parts: RenderParts
    _held: HeldClock

    async def __aiter__(self) -> AsyncIterator[Rendered]:
        parts = aiter(self._parts)
        with self._held.hold():
            first = await anext(parts, None)
        if first is not None:
            yield first
            async for part in parts:
                yield part

    async def resolve(self, name: str, value: bytes) -> None:
        await self._parts.resolve(name, value)

    async def reject(self, name: str, error: bytes) -> None:
        await self._parts.reject(name, error)
