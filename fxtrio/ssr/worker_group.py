"""A number of workers with the same bundle, each replaced when it ends.

Used by `fxtrio.ssr.pool`, which has one fleet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
import trio

from fxtrio.ssr.attached_renderer import Attachment
from fxtrio.ssr.errors import SsrStartFailed
from fxtrio.ssr.process.launch import Launch
from fxtrio.ssr.process.logs import log
from fxtrio.ssr.render_worker import RenderWorker
from fxtrio.ssr.scheduler import Scheduler
from fxtrio.ssr.worker_lifecycle import WorkerExit, run_worker, start_error

STABLE: Final = 5.0
"""Life after which the end of a worker is no part of a series (seconds)."""

FIRST_REST: Final = 0.05
"""Pause after the second end in a series (seconds); each further one doubles it."""

LONGEST_REST: Final = 0.8
"""Longest pause while workers do come up, and could serve in between (seconds)."""

LONGEST_REST_DOWN: Final = 5.0
"""Longest pause while they do not even come up (seconds)."""


HOPELESS_AFTER: Final = 3
"""Starts that have to fail in succession before nothing is expected of a worker (count)."""


def choose_rest(series: int, *, ready: bool) -> float:
    """Return the pause before a worker is replaced (seconds).

    ``series`` counts the ends in quick succession, this one included; ``ready`` says
    whether the worker that has ended had come up.
    """
    if series < 2:
        return 0.0
    longest = LONGEST_REST if ready else LONGEST_REST_DOWN
    return float(min(longest, FIRST_REST * 2.0 ** min(series - 2, 16)))


class WorkerGroup(msgspec.Struct, eq=False):
    """Runs ``size`` workers. They get renders from `activate` on."""

    launch: Launch | Attachment
    size: int
    timeout: float
    scheduler: Scheduler

    _workers: dict[int, RenderWorker] = msgspec.field(default_factory=dict)
    _hopeless: set[int] = msgspec.field(default_factory=set)
    _active: bool = False

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the workers that are ready."""
        return tuple(worker.node.pid for worker in self._workers.values())

    async def run(
        self,
        *,
        task_status: trio.TaskStatus[SsrStartFailed | None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Keep the workers until cancelled.

        Hands over None once all of them are ready. Hands over the reason and ends when one
        of them does not come up the first time.
        """
        failures: list[SsrStartFailed] = []

        async def start(number: int) -> None:
            failure = await nursery.start(self._keep, number)
            if failure is not None:
                failures.append(failure)
                starting.cancel_scope.cancel("a worker did not start")

        # The workers are tasks of the outer nursery. The inner one has their starts alone, so that
        # the first one that fails ends the wait for the others.
        async with trio.open_nursery() as nursery:
            async with trio.open_nursery() as starting:
                for number in range(self.size):
                    starting.start_soon(start, number, name=f"ssr.{number}")
            if failures:
                nursery.cancel_scope.cancel("a worker did not start")
            task_status.started(failures[0] if failures else None)

    def activate(self) -> None:
        """Let the workers have renders. All of them are ready."""
        self._active = True
        self.scheduler.down = ""
        for worker in self._workers.values():
            self.scheduler.worker_ready(worker)

    async def _keep(
        self,
        number: int,
        *,
        task_status: trio.TaskStatus[SsrStartFailed | None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Run one worker after the other. Ends when the first one does not come up."""
        started = False
        series = failed_starts = 0

        def announce(worker: RenderWorker) -> None:
            nonlocal started, failed_starts
            self._workers[number] = worker
            failed_starts = 0
            if not started:
                started = True
                task_status.started(None)
            self._take(number, worker)

        while True:
            worker_exit, failure = await self._run_worker(announce)
            self._workers.pop(number, None)
            if not started:
                task_status.started(failure)
                return
            ready = failure is None
            failed_starts += not ready
            series = 1 if worker_exit is not None and worker_exit.seconds >= STABLE else series + 1
            rest = choose_rest(series, ready=ready)
            self._report(worker_exit, failure, rest)
            if failed_starts >= HOPELESS_AFTER:
                self._give_up(number, failure)
            await trio.sleep(rest)

    async def _run_worker(
        self, announce: Callable[[RenderWorker], None]
    ) -> tuple[WorkerExit | None, SsrStartFailed | None]:
        """Run one worker; return its exit, and the error if it did not start."""
        try:
            worker_exit = await run_worker(
                self.launch,
                scheduler=self.scheduler,
                timeout=self.timeout,
                on_ready=announce,
            )
        except SsrStartFailed as failure:
            return None, failure
        return worker_exit, None if worker_exit.ready else start_error(self.launch, worker_exit)

    def _take(self, number: int, worker: RenderWorker) -> None:
        self._hopeless.discard(number)
        if self._active:
            self.scheduler.down = ""
            self.scheduler.worker_ready(worker)

    def _give_up(self, number: int, failure: SsrStartFailed | None) -> None:
        """Mark a worker that does not start as unavailable; restarts continue."""
        self._hopeless.add(number)
        if self._active and len(self._hopeless) == self.size:
            cause = failure.cause if failure is not None else "does not stay alive"
            self.scheduler.down = f"no worker starts; the last one {cause}"
            self.scheduler.fail_waiting()

    def _report(
        self, worker_exit: WorkerExit | None, failure: SsrStartFailed | None, rest: float
    ) -> None:
        self.scheduler.counters.restarts += 1
        soon = f"in {rest:g} s" if rest else "now"
        if worker_exit is None:
            log.error("%s The next attempt starts %s.", failure, soon)
            return
        text = "SSR worker %d %s after %.1f s; its replacement starts %s."
        log.warning(text, worker_exit.pid, worker_exit.death.cause, worker_exit.seconds, soon)
