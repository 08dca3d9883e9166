"""`trio.sleep` for simulations: a timer, where Trio's own is a cancel scope with a deadline.

Trio's ends with a `Cancelled` that its scope catches, which is most of what a heartbeat costs. A
timer has its place in the same heap, and wakes its task at the same turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from math import inf
from typing import Any

import attrs
import trio
import trio._core._run
import trio._timeouts

from fxtrio.simulation.engine.trio_internals import raise_cancelled

_run: Any = trio._core._run
_trios_sleep = trio._timeouts.sleep


@contextmanager
def short_sleeps() -> Iterator[None]:
    """Let `trio.sleep` be that of this module for the block, unless a test has replaced it."""
    module: Any = trio
    if trio.sleep is not _trios_sleep:
        yield
        return
    module.sleep = _sleep
    try:
        yield
    finally:
        module.sleep = _trios_sleep


@attrs.define(eq=False)
class _Timer:
    """What Trio's heap of deadlines has in place of a cancel scope."""

    _runner: Any
    _task: Any
    _registered_deadline: float

    def _cancel(self, reason: object) -> None:
        """Wake the task: its time has come."""
        self._leave()
        self._runner.reschedule(self._task)

    def abort(self, raise_cancel: object) -> trio.lowlevel.Abort:
        """Let the task be cancelled."""
        self._leave()
        return trio.lowlevel.Abort.SUCCEEDED

    def _leave(self) -> None:
        self._runner.deadlines.remove(self._registered_deadline, self)
        self._registered_deadline = inf


@wraps(_trios_sleep)  # a task that only sleeps has its name
async def _sleep(seconds: float) -> None:
    if not 0 < seconds < inf:
        await _trios_sleep(seconds)
        return
    context = _run.GLOBAL_RUN_CONTEXT
    runner, task = context.runner, context.task
    deadline = runner.clock.current_time() + seconds
    timer = _Timer(runner, task, deadline)
    runner.deadlines.add(deadline, timer)
    await trio.lowlevel.wait_task_rescheduled(timer.abort)
    if task._cancel_status.effectively_cancelled:  # since it was woken, and before it runs
        raise_cancelled()
