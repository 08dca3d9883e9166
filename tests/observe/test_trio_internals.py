"""What `fxtrio.observe` relies on in the installed Trio, beyond its public interface."""

from __future__ import annotations

from math import inf

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from fxtrio.observe.trio_internals import deadline_of


async def sleeping(seconds: float, *, task_status: trio.TaskStatus[trio.lowlevel.Task]) -> None:
    task_status.started(trio.lowlevel.current_task())
    with trio.move_on_after(seconds):
        await trio.sleep_forever()


async def test_the_deadline_of_another_task_is_what_trio_reports_to_that_task(
    mock_clock: MockClock,
) -> None:
    async def ask(*, task_status: trio.TaskStatus[trio.lowlevel.Task]) -> None:
        deadlines.append(trio.current_effective_deadline())
        task_status.started(trio.lowlevel.current_task())
        await trio.sleep_forever()

    deadlines: list[float] = []
    with trio.CancelScope(deadline=trio.current_time() + 50):
        async with trio.open_nursery() as nursery:
            plain = await nursery.start(ask)
            near = await nursery.start(sleeping, 5)
            far = await nursery.start(sleeping, 500)
            await wait_all_tasks_blocked()

            assert deadline_of(plain) == deadlines[0] == trio.current_time() + 50
            assert deadline_of(near) == trio.current_time() + 5
            assert deadline_of(far) == trio.current_time() + 50
            nursery.cancel_scope.shield = True
            assert deadline_of(plain) == inf
            nursery.cancel_scope.shield = False
            nursery.cancel_scope.cancel()
            assert deadline_of(plain) == -inf
