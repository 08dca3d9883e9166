"""The SSR pool: renders pages in Node processes that it owns.

The lifespan of an app calls `open_ssr_pool`; `fxtrio.serve` uses the handle for every
page.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import msgspec
import trio

from fxtrio.ssr.attached_renderer import Attachment
from fxtrio.ssr.errors import SsrStartFailed
from fxtrio.ssr.frames import REJECTED, Rendered
from fxtrio.ssr.process.launch import Launch
from fxtrio.ssr.renders import DocumentRender, StreamRender
from fxtrio.ssr.scheduler import Scheduler
from fxtrio.ssr.statistics import SsrStatistics
from fxtrio.ssr.worker_group import WorkerGroup

__all__ = [
    "RenderStream",
    "Rendered",
    "SsrPool",
    "SsrStatistics",
    "open_attached_pool",
    "open_ssr_pool",
]


@asynccontextmanager
async def open_ssr_pool(
    *,
    bundle: Path,
    node: str = "node",
    workers: int = 1,
    timeout: float = 5.0,
    max_pending: int = 1000,
    heap_mb: int = 512,
    mode: Literal["production", "development"] = "production",
) -> AsyncIterator[SsrPool]:
    """Run Node processes that render the pages of ``bundle`` while the block lasts.

    ``timeout`` is the time limit of one render, without waiting (seconds); ``max_pending``
    limits unfinished renders and streams; ``heap_mb`` limits the heap of each of the
    ``workers`` processes (MiB). Output of page code goes to the logger ``fx.ssr``.

    Raises SsrStartFailed if a worker does not start. When the block ends, unfinished renders
    raise SsrDown, and all processes have exited.
    """
    launch = Launch(bundle=bundle, node=node, heap_mb=heap_mb, mode=mode)
    async with _open_pool(launch, workers, Scheduler(max_pending, timeout)) as pool:
        yield pool


@asynccontextmanager
async def open_attached_pool(
    place: Path, *, timeout: float, max_pending: int
) -> AsyncIterator[SsrPool]:
    """Render with another owner's process that listens at the Unix socket ``place``.

    Otherwise as `open_ssr_pool`. A lost connection is reopened.
    """
    async with _open_pool(Attachment(bundle=place), 1, Scheduler(max_pending, timeout)) as pool:
        yield pool


@asynccontextmanager
async def _open_pool(
    launch: Launch | Attachment, workers: int, scheduler: Scheduler
) -> AsyncIterator[SsrPool]:
    async with trio.open_nursery() as nursery:
        pool = SsrPool(launch, workers, scheduler, nursery)
        failure = await pool.start()
        if failure is None:
            try:
                yield pool
            finally:
                scheduler.down = "the pool is closed"
                scheduler.fail_waiting()
                nursery.cancel_scope.cancel("the pool is closed")
    # Behind the nursery, which would wrap it in a group.
    if failure is not None:
        raise failure


class SsrPool(msgspec.Struct, eq=False):
    """Renders pages. Created by `open_ssr_pool`; valid until its block ends."""

    _launch: Launch | Attachment
    _workers: int
    _scheduler: Scheduler
    _nursery: trio.Nursery
    _fleet: WorkerGroup | None = None

    async def render(self, page: int, payload: bytes) -> Rendered:
        """Return the HTML of ``page``; ``payload`` is its state as JSON.

        Cancelling drops the request if no worker has it, else its result is ignored.
        Raises RenderFailed when a component throws, RenderTimeout and RenderCrashed when the
        page hangs or crashes a worker, SsrBusy when too many renders are pending, SsrDown when
        no worker starts, and FrameSizeInvalid when ``payload`` is too large. If a worker ends
        for another reason, the render is repeated without an error.
        """
        scheduler = self._scheduler
        render = DocumentRender(page, payload, trio.lowlevel.current_task(), scheduler.forget)
        scheduler.admit(render)
        rendered: Rendered = await trio.lowlevel.wait_task_rescheduled(render.abort)
        return rendered

    @asynccontextmanager
    async def stream(self, page: int, payload: bytes) -> AsyncIterator[RenderStream]:
        """Render ``page`` in parts, for as long as the block lasts.

        Leaving the block early ends the render. Raises SsrBusy, SsrDown and FrameSizeInvalid
        as `render` does; the other errors come from the iterator.
        """
        render = StreamRender(page, payload)
        self._scheduler.admit(render)
        try:
            yield RenderStream(render)
        finally:
            render.leave()
            self._scheduler.forget(render)

    def statistics(self) -> SsrStatistics:
        """Return the counters of the pool."""
        scheduler, counters = self._scheduler, self._scheduler.counters
        return SsrStatistics(
            workers=self._workers,
            pids=self._fleet.pids if self._fleet is not None else (),
            waiting=scheduler.waiting,
            **msgspec.structs.asdict(counters),
        )

    async def start(self) -> SsrStartFailed | None:
        """Start the workers. Called once, by `open_ssr_pool`."""
        fleet = WorkerGroup(self._launch, self._workers, self._scheduler.timeout, self._scheduler)
        failure: SsrStartFailed | None = await self._nursery.start(fleet.run)
        if failure is None:
            self._fleet = fleet
            fleet.activate()
        return failure


class RenderStream(msgspec.Struct, frozen=True, eq=False):
    """A page in parts. Created by `SsrPool.stream`; valid until its block ends.

    Unread parts are buffered up to the window of the wire; then the worker pauses this page,
    and continues with others.
    """

    _render: StreamRender

    def __aiter__(self) -> RenderStream:
        """Iterate over the parts, in order: the first one has the head."""
        return self

    async def __anext__(self) -> Rendered:
        """Return the next part.

        Raises RenderFailed when a component outside every boundary throws, RenderTimeout
        and RenderCrashed when the worker hangs or ends, SsrDown when there is none.
        """
        part = await self._render.take()
        if part is None:
            raise StopAsyncIteration
        return part

    async def resolve(self, name: str, value: bytes) -> None:
        """Settle the deferred value ``name``; ``value`` is JSON.

        Waits while the worker reads more slowly than it is sent to. Raises FrameSizeInvalid
        when the value is too large.
        """
        await self._settle(0, name, value)

    async def reject(self, name: str, error: bytes) -> None:
        """Fail the deferred value ``name``.

        ``error`` is a JSON object, whose keys become those of the JavaScript error.
        """
        await self._settle(REJECTED, name, error)

    async def _settle(self, flags: int, name: str, value: bytes) -> None:
        await self._render.settle(flags, b"[%b,%b]" % (msgspec.json.encode(name), value))
