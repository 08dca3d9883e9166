"""Background tasks."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from fx.tasks import enqueue
from fx.testing import Client
from fxtrio.context import entered
from tests.contract.projects import open_pages
from tests.contract.rules import rule
from tests.contract.servers import Observed

PAGE = """
    from fx.tasks import enqueue

    @server
    async def load(request):
        job = getattr(request.app.state, "job", None)
        if job is not None:
            enqueue(job, "loader")
        return {}

    @action
    async def start(request):
        returned = enqueue(request.app.state.job, "action", times=2)
        return {"returned": returned}

    async def websocket(ws):
        enqueue(ws.app.state.job, "websocket")
        await ws.accept()
"""


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with open_pages(tmp_path, PAGE, tasks={"workers": 2, "drain_timeout": 1}) as opened:
        yield opened


class Ran:
    """A log of calls that can be waited for."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self._new = trio.Event()
        self._token = trio.lowlevel.current_trio_token()

    def note(self, call: Any) -> None:
        self.calls.append(call)
        self._token.run_sync_soon(self._new.set)

    async def wait(self, count: int) -> list[Any]:
        with trio.fail_after(5):
            while len(self.calls) < count:
                await self._new.wait()
                self._new = trio.Event()
        return self.calls


@rule("tasks.enqueue")
async def test_tasks_enqueue_calls_with_the_arguments_and_returns_at_once(client: Client) -> None:
    ran = Ran()
    release = trio.Event()

    async def job(who: str, times: int = 1) -> str:
        await release.wait()
        ran.note((who, times))
        return "nobody reads this"

    client.app.state.job = job
    result = await client.action("/", "start")
    assert (result.data, ran.calls) == ({"returned": None}, [])
    release.set()
    assert await ran.wait(1) == [("action", 2)]


@rule("tasks.enqueue")
async def test_tasks_enqueue_uses_no_more_workers_than_the_pool_has(client: Client) -> None:
    running, most, release = 0, 0, trio.Event()

    async def job() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await release.wait()
        running -= 1

    for _ in range(5):
        client.app.state.fx_tasks.enqueue(job)
    await wait_all_tasks_blocked()
    assert (running, client.app.state.fx_tasks.statistics().waiting) == (2, 3)
    release.set()
    await wait_all_tasks_blocked()
    assert (running, most) == (0, 2)


@rule("tasks.1")
async def test_tasks_1_coroutine_functions_are_awaited_and_others_run_in_a_thread(
    client: Client,
) -> None:
    ran = Ran()

    async def awaited(who: str) -> None:
        await trio.lowlevel.checkpoint()
        ran.note(threading.get_ident())

    def plain(who: str) -> None:
        ran.note(threading.get_ident())

    client.app.state.job = awaited
    await client.get("/")
    (in_loop,) = await ran.wait(1)
    client.app.state.job = plain
    await client.get("/")
    _, in_thread = await ran.wait(2)
    assert in_loop == threading.get_ident() != in_thread


@rule("tasks.2")
async def test_tasks_2_works_in_loaders_and_actions_and_wherever_the_app_runs(
    client: Client,
) -> None:
    ran = Ran()

    async def job(who: str, times: int = 1) -> None:
        ran.note(who)
        if who == "loader":
            enqueue(job, "job")

    client.app.state.job = job
    await client.get("/")
    await client.action("/", "start")
    async with client.websocket("/"):
        pass
    assert sorted(await ran.wait(4)) == ["action", "job", "loader", "websocket"]


@rule("tasks.3")
@pytest.mark.parametrize("in_thread", [False, True])
async def test_tasks_3_a_task_that_raises_is_logged_and_costs_no_worker(
    client: Client, caplog: pytest.LogCaptureFixture, in_thread: bool
) -> None:
    ran = Ran()

    def fail(who: str) -> None:
        ran.note(who)
        raise ValueError("the job is broken")

    async def fail_later(who: str) -> None:
        fail(who)

    async def succeed(who: str) -> None:
        ran.note("fine")

    client.app.state.job = fail if in_thread else fail_later
    for _ in range(3):  # one more than there are workers
        await client.get("/")
    await ran.wait(3)
    client.app.state.job = succeed
    await client.get("/")
    assert (await ran.wait(4))[3] == "fine"
    with trio.fail_after(5):  # a thread's end is told to nobody
        while caplog.text.count("ValueError: the job is broken") < 3:  # noqa: ASYNC110
            await trio.sleep(0.002)
    records = [record for record in caplog.records if record.name == "fx.tasks"]
    assert [record.levelno for record in records] == [logging.ERROR] * 3
    assert all(record.exc_info and "broken" in str(record.exc_info[1]) for record in records)


@rule("tasks.4")
async def test_tasks_4_every_app_of_a_process_has_a_queue_of_its_own(tmp_path: Path) -> None:
    release = trio.Event()
    tasks = {"workers": 1, "drain_timeout": 1}
    async with (
        open_pages(tmp_path / "one", PAGE, tasks=tasks) as one,
        open_pages(tmp_path / "two", PAGE, tasks=tasks) as two,
    ):
        with entered(one.app.state.fx):
            for _ in range(3):
                enqueue(release.wait)
        await wait_all_tasks_blocked()
        queues = [client.app.state.fx_tasks.statistics() for client in (one, two)]
        release.set()
    assert [(each.running, each.waiting) for each in queues] == [(1, 2), (0, 0)]


@pytest.mark.node
@rule("tasks.4", "tasks.4b")
def test_tasks_4_every_worker_of_fx_serve_has_a_queue_of_its_own(workers: Observed) -> None:
    assert len(workers.waiting) == 2
    assert workers.waiting == {pid: 3 if pid == workers.filled else 0 for pid in workers.waiting}


@pytest.mark.node
@rule("tasks.4b")
def test_tasks_4b_queued_work_is_lost_on_restart(workers: Observed) -> None:
    assert workers.filled not in workers.waiting_after_restart
    assert list(workers.waiting_after_restart.values()) == [0, 0]
    assert workers.jobs_ran is False
