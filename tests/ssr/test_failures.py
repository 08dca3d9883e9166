"""A page can hurt itself, and an outsider the workers, but nobody else's request."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
import trio
import trio.testing

from fxtrio.ssr.errors import RenderCrashed, RenderError, RenderFailed, RenderTimeout, SsrDown
from fxtrio.ssr.pool import SsrPool
from tests.ssr.pools import (
    PAGES,
    is_running,
    node_processes,
    open_pool,
    state,
    wait_restarts,
    wait_until,
)

pytestmark = pytest.mark.node


class Traffic:
    """Good requests beside the bad one."""

    def __init__(self, pool: SsrPool) -> None:
        self.pool = pool
        self.answers: list[bytes] = []
        self.errors: list[RenderError] = []

    async def ask(self, count: int) -> None:
        for number in range(count):
            try:
                self.answers.append((await self.pool.render(0, state(name=str(number)))).html)
            except RenderError as error:
                self.errors.append(error)

    async def flow(self, *, task_status: trio.TaskStatus[None]) -> None:
        task_status.started()
        while True:
            await self.ask(1)
            await trio.sleep(0.001)


def kill_workers(pool: SsrPool) -> None:
    for pid in pool.statistics().pids:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("workers", [1, 2])
async def test_a_kill_from_outside_costs_nobody_an_error(workers: int) -> None:
    async with open_pool(workers=workers) as pool:
        traffic = Traffic(pool)
        async with trio.open_nursery() as nursery:
            for _ in range(500):
                nursery.start_soon(traffic.ask, 2)
            await wait_until(lambda: len(traffic.answers) >= 250)
            kill_workers(pool)
        assert not traffic.errors
        assert len(traffic.answers) == 1000
        await wait_restarts(pool, workers)


async def test_kills_in_a_row_cost_nobody_an_error() -> None:
    async with open_pool(workers=2) as pool:
        traffic = Traffic(pool)
        async with trio.open_nursery() as nursery:
            for _ in range(20):
                await nursery.start(traffic.flow)
            for count in range(1, 6):
                pids = pool.statistics().pids
                os.kill(pids[0], signal.SIGKILL)
                await wait_restarts(pool, count)
            nursery.cancel_scope.cancel()
        assert not traffic.errors
        assert traffic.answers


async def test_a_kill_during_the_start_of_the_replacement_costs_nobody_an_error() -> None:
    async with open_pool() as pool:
        traffic = Traffic(pool)
        kill_workers(pool)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(traffic.ask, 5)
            before = set(pool.statistics().pids)
            await wait_until(lambda: node_processes() - before)
            os.kill((node_processes() - before).pop(), signal.SIGKILL)
        assert not traffic.errors
        assert len(traffic.answers) == 5


async def test_a_stopped_worker_is_replaced_when_its_time_is_over() -> None:
    async with open_pool(timeout=0.4) as pool:
        [pid] = pool.statistics().pids
        os.kill(pid, signal.SIGSTOP)
        traffic = Traffic(pool)
        await traffic.ask(3)
        assert not traffic.errors, "the worker had not begun with any of them"
        assert not is_running(pid)


async def test_an_endless_loop_fails_at_its_deadline_and_the_next_renders_succeed() -> None:
    async with open_pool(timeout=0.5) as pool:
        traffic = Traffic(pool)
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def _loop() -> None:
                with pytest.raises(RenderTimeout) as failed:
                    await pool.render(2, state("loop"))
                assert (failed.value.page, failed.value.timeout) == (2, 0.5)

            await trio.testing.wait_all_tasks_blocked()
            for _ in range(20):
                nursery.start_soon(traffic.ask, 1)
        assert not traffic.errors
        assert pool.statistics().restarts == 1
        assert pool.statistics().timeouts == 1


async def test_quick_answers_before_an_endless_loop_are_not_blamed_for_it() -> None:
    async with open_pool(timeout=0.5) as pool:
        traffic = Traffic(pool)
        failed: list[bytes] = []

        async def loop() -> None:
            with pytest.raises(RenderTimeout):
                await pool.render(2, state("loop"))
            failed.append(b"loop")

        async with trio.open_nursery() as nursery:
            for number in range(40):  # they arrive as one batch
                nursery.start_soon(loop) if number == 20 else nursery.start_soon(traffic.ask, 1)
        assert not traffic.errors
        assert failed == [b"loop"]


async def test_waiting_behind_slow_pages_is_no_timeout() -> None:
    done = []

    async def slow() -> None:
        done.append(await pool.render(0, state("slow", ms=250)))

    async with open_pool(timeout=2) as pool:
        async with trio.open_nursery() as nursery:
            for _ in range(12):
                nursery.start_soon(slow)
        assert len(done) == 12
        assert pool.statistics().restarts == 0


async def test_a_server_that_was_held_up_does_not_blame_its_workers() -> None:
    async with open_pool(timeout=1) as pool:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pool.render, 0, state("slow", ms=50))
            await trio.testing.wait_all_tasks_blocked()
            time.sleep(1.5)  # noqa: ASYNC251  # application code that blocks the event loop
        assert pool.statistics().restarts == 0


async def test_a_loop_whose_client_left_is_nobody_elses_fault() -> None:
    async with open_pool(timeout=0.4) as pool:
        with trio.move_on_after(0.1):
            await pool.render(2, state("loop"))
        traffic = Traffic(pool)
        await traffic.ask(3)
        assert not traffic.errors
        assert pool.statistics().restarts == 1


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("act", "cause"),
    [
        ("exit", "exited with code 3"),
        ("memory", "was killed by SIGABRT"),
        ("flood", "wrote more than 4 MiB at once to its log"),
    ],
)
async def test_a_poison_page_costs_a_worker_twice_and_nobody_else_anything(
    workers: int, act: str, cause: str
) -> None:
    async with open_pool(workers=workers, heap_mb=128 if act == "flood" else 24) as pool:
        traffic = Traffic(pool)
        async with trio.open_nursery() as nursery:
            for _ in range(10):
                await nursery.start(traffic.flow)
            with pytest.raises(RenderCrashed) as failed:
                await pool.render(2, state(act, code=3))
            assert (failed.value.page, failed.value.cause) == (2, cause)
            answered = len(traffic.answers)
            await wait_until(lambda: len(traffic.answers) >= answered + 50)
            nursery.cancel_scope.cancel()
        assert not traffic.errors
        assert pool.statistics().restarts == 2
        assert pool.statistics().crashes == 1


async def test_poison_in_the_middle_of_a_batch_costs_a_worker_twice() -> None:
    async with open_pool(workers=2) as pool:
        traffic = Traffic(pool)

        async def poison() -> None:
            with pytest.raises(RenderCrashed):
                await pool.render(2, state("exit", code=1))

        async with trio.open_nursery() as nursery:
            for number in range(60):
                nursery.start_soon(poison) if number == 30 else nursery.start_soon(traffic.ask, 1)
        assert not traffic.errors
        assert len(traffic.answers) == 59
        await wait_restarts(pool, 2)
        assert pool.statistics().restarts == 2


async def test_many_poison_pages_do_not_take_the_pool_down() -> None:
    crashed: list[int] = []

    async def poison(number: int) -> None:
        with pytest.raises(RenderCrashed):
            await pool.render(2, state("exit", code=1, number=number))
        crashed.append(number)

    async with open_pool(workers=2) as pool:
        traffic = Traffic(pool)
        async with trio.open_nursery() as nursery:
            for number in range(5):
                nursery.start_soon(poison, number)
            nursery.start_soon(traffic.ask, 20)
        assert len(crashed) == 5
        assert not traffic.errors
        assert pool.statistics().restarts <= 10


async def test_asking_again_for_a_poison_page_costs_no_more_workers() -> None:
    async with open_pool() as pool:
        for _ in range(5):
            with pytest.raises(RenderCrashed, match="exited with code 3"):
                await pool.render(2, state("exit", code=3))
        assert pool.statistics().crashes == 1
        assert (await pool.render(2, state())).html, "with another state the page is fine"
        assert pool.statistics().restarts == 2


async def test_asking_for_a_poison_page_at_the_same_time_costs_few_workers() -> None:
    crashed: list[int] = []

    async def poison(number: int) -> None:
        with pytest.raises(RenderCrashed):
            await pool.render(2, state("exit", code=1))
        crashed.append(number)

    async with open_pool(workers=2) as pool:
        async with trio.open_nursery() as nursery:
            for number in range(20):
                nursery.start_soon(poison, number)
        assert len(crashed) == 20
        assert pool.statistics().restarts <= 4


async def test_asking_again_for_an_endless_loop_costs_two_workers_in_all() -> None:
    async with open_pool(timeout=0.3) as pool:
        for _ in range(5):
            with pytest.raises(RenderTimeout):
                await pool.render(2, state("loop"))
        assert pool.statistics().timeouts == 2


async def test_a_poison_page_whose_client_left_is_not_tried_again() -> None:
    async with open_pool() as pool:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pool.render, 2, state("exit", code=1))
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        await wait_restarts(pool, 1)
        assert (await pool.render(0, state())).html
        assert pool.statistics().restarts == 1


async def test_a_page_that_throws_is_not_tried_again() -> None:
    async with open_pool() as pool:
        with pytest.raises(RenderFailed):
            await pool.render(0, state("throw", message="no"))
        assert pool.statistics().retried == 0


def bundle_with_a_switch(folder: Path) -> tuple[Path, Path]:
    """Return a bundle, and a file in whose presence it cannot be loaded."""
    switch = folder / "broken"
    bundle = folder / "server.mjs"
    check = f"import fs from 'node:fs';\nif (fs.existsSync({str(switch)!r})) process.exit(9);\n"
    bundle.write_text(check + PAGES.read_text())
    return bundle, switch


async def test_workers_that_do_not_come_up_take_the_pool_down_until_they_do(
    tmp_path: Path,
) -> None:
    bundle, switch = bundle_with_a_switch(tmp_path)
    async with open_pool(bundle=bundle, workers=2) as pool:
        switch.touch()
        kill_workers(pool)
        with pytest.raises(SsrDown, match="exited with code 9"):
            await pool.render(0, state())
        with pytest.raises(SsrDown), trio.testing.assert_no_checkpoints():
            await pool.render(0, state())
        switch.unlink()
        await wait_until(lambda: len(pool.statistics().pids) == 2)
        assert (await pool.render(0, state())).html == b"<p>Hello, you</p>"


async def test_a_start_that_fails_once_costs_nobody_an_error(tmp_path: Path) -> None:
    bundle, switch = bundle_with_a_switch(tmp_path)
    async with open_pool(bundle=bundle) as pool:
        switch.touch()
        traffic = Traffic(pool)
        async with trio.open_nursery() as nursery:
            kill_workers(pool)
            nursery.start_soon(traffic.ask, 3)
            await wait_until(lambda: pool.statistics().restarts >= 2)
            switch.unlink()
        assert not traffic.errors
        assert len(traffic.answers) == 3
