"""Several workers: killed, replaced, stopped, and never enough of them to refuse a client."""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from math import inf
from pathlib import Path
from socket import socketpair
from typing import Any

import psutil
import pytest
import trio

from fxtrio.observe.observer import ProcessNotObserved, ask_process
from fxtrio.server.http1.limits import ServerLimits
from fxtrio.server.supervise import ServeOptions
from fxtrio.server.supervise.garbage import COLLECTIONS

from .support import PATIENCE, Running, lives, serve


async def test_workers_share_one_socket_and_stop_together() -> None:
    async with serve(workers=2) as running:
        pids = {(await running.get()).body for _ in range(40)}
        assert {pid.encode() for pid in map(str, running.workers())} >= pids
        running.kill()
        assert await running.exit_code() == 0
        await running.wait_for("lifespan ended", 2)


async def test_the_tree_of_a_supervisor_names_its_workers() -> None:
    async with serve(workers=2) as running:
        os.kill(running.process.pid, signal.SIGUSR2)
        (named,) = await running.wait_for(r"Send SIGUSR2 to a worker process: (.+)")
        workers = sorted(running.workers())
        assert named == ", ".join(map(str, workers))
        listed = " ".join(f"(?=.*\\b{pid}\\b)" for pid in workers).replace(" ", "")
        with pytest.raises(ProcessNotObserved, match=f"its child processes are {listed}"):
            ask_process(running.process.pid)
        running.kill()
        assert await running.exit_code() == 0


async def test_new_clients_are_rejected_while_the_last_requests_are_answered() -> None:
    async with serve(workers=2) as running, await running.connect() as client:
        await client.send(b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na")
        await running.wait_for("request with a body")
        running.kill()
        with trio.fail_after(PATIENCE):
            while await _listens(running):  # noqa: ASYNC110  # no event tells
                await trio.sleep(0.02)
        await client.send(b"b")
        assert (await client.reply()).body == b"2"
        assert await running.exit_code() == 0


async def _listens(running: Running) -> bool:
    try:
        stream = await trio.open_tcp_stream("127.0.0.1", running.port)
    except OSError:
        return False
    await trio.aclose_forcefully(stream)
    return True


@pytest.mark.parametrize(("number", "times"), [(signal.SIGTERM, 3), (signal.SIGINT, 1)])
async def test_a_signal_to_the_whole_group_stops_in_order(number: int, times: int) -> None:
    async with serve(workers=2) as running, await running.connect() as client:
        await client.send(b"GET /slow?seconds=0.5 HTTP/1.1\r\nHost: a\r\n\r\n")
        await running.wait_for("slow request")
        for _ in range(times):
            running.kill(number, group=True)
        assert (await client.reply()).body == b"done"
        assert await running.exit_code() == 0
        await running.wait_for("lifespan ended", 2)


async def test_a_worker_that_is_killed_is_replaced() -> None:
    async with serve(workers=2) as running:
        for _ in range(3):
            before = running.workers()
            os.kill(before[0], signal.SIGKILL)
            await running.wait_until(partial(_is_back, running, before[0]))
        await running.wait_for("was ended by SIGKILL", 3)
        running.kill()
        assert await running.exit_code() == 0


def _is_back(running: Running, killed: int) -> bool:
    return len(set(running.workers()) - {killed}) == 2


async def test_workers_end_when_their_supervisor_is_killed() -> None:
    async with serve(workers=2) as running:
        workers = [psutil.Process(pid) for pid in running.workers()]
        running.kill(signal.SIGKILL)
        await running.exit_code()
        await running.wait_until(lambda: not any(lives(worker) for worker in workers))
        await running.wait_for("lifespan ended", 2)


async def test_a_worker_whose_loop_is_blocked_is_replaced() -> None:
    async with serve(workers=2, hang=2.0) as running:
        await running.wait_for("2 workers serve")  # one that starts has longer
        stopped = running.workers()[0]
        os.kill(stopped, signal.SIGSTOP)
        await running.wait_until(partial(_is_back, running, stopped))
        await running.wait_for(f"process {stopped} hung, and was killed")
        running.kill()
        assert await running.exit_code() == 0


async def test_a_rolling_restart_rejects_nobody() -> None:
    async with serve(workers=2) as running, trio.open_nursery() as nursery:
        before = set(running.workers())
        failures: list[object] = []
        nursery.start_soon(_ask_until_cancelled, running, failures)
        running.kill(signal.SIGHUP)
        await running.wait_until(
            lambda: len(running.workers()) == 2 and not before & set(running.workers())
        )
        nursery.cancel_scope.cancel()
        assert failures == []


async def test_a_signal_to_stop_ends_a_rolling_restart() -> None:
    async with serve(workers=2) as running, await running.connect() as client:
        await client.send(b"GET /slow?seconds=0.5 HTTP/1.1\r\nHost: a\r\n\r\n")
        await running.wait_for("slow request")
        for _ in range(2):
            running.kill(signal.SIGHUP)
        await running.wait_for("Replacing the workers on SIGHUP")
        running.kill()
        assert (await client.reply()).body == b"done"
        assert await running.exit_code() == 0


async def test_a_worker_that_has_served_its_share_is_replaced_and_rejects_nobody() -> None:
    async with serve(workers=1, max_requests=5) as running:
        before = running.workers()
        failures: list[object] = []
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_ask_until_cancelled, running, failures)
            await running.wait_until(
                lambda: bool(running.workers()) and before[0] not in running.workers()
            )
            nursery.cancel_scope.cancel()
        assert failures == []
        await running.wait_for("Worker 0 has handled its 5 requests and is replaced")


async def _ask_until_cancelled(running: Running, failures: list[object]) -> None:
    while True:
        try:
            reply = await running.get()
            if reply.status != 200:
                failures.append(reply)
        except (OSError, trio.BrokenResourceError, AssertionError) as error:
            failures.append(error)
        await trio.sleep(0.005)


@pytest.mark.parametrize("app", ["fails_to_start", "missing"])
async def test_workers_that_cannot_start_end_the_supervisor_with_an_error(app: str) -> None:
    async with serve(app, workers=2, ready=False) as running:
        assert await running.exit_code() == 1
        await running.wait_for("failed to start 3 times in a row: giving up")
        assert running.process.returncode == 1


async def test_workers_that_have_served_are_started_again_for_as_long_as_an_outage_lasts(
    tmp_path: Path,
) -> None:
    outage = tmp_path / "outage"
    async with serve(
        "starts_without_outage", workers=2, environment={"OUTAGE": str(outage)}
    ) as running:
        await running.wait_for("2 workers serve")
        outage.touch()
        for pid in running.workers():
            os.kill(pid, signal.SIGKILL)
        await running.wait_for("ended with exit code 1 before it served", 8)
        outage.unlink()
        await running.wait_for("Running on", 4)
        assert (await running.get()).status == 200
        running.kill()
        assert await running.exit_code() == 0


async def test_workers_that_hang_while_they_start_end_the_supervisor_with_an_error() -> None:
    async with serve(
        module="tests.supervise.endless", workers=2, startup=0.5, hang=0.5, ready=False
    ) as running:
        assert await running.exit_code() == 1
        await running.wait_for("hung, and was killed before it served", 3)
        await running.wait_for("failed to start 3 times in a row: giving up")


async def test_workers_that_are_killed_while_they_start_are_started_again() -> None:
    async with serve(module="tests.supervise.endless", workers=2, ready=False) as running:
        killed: set[int] = set()
        while len(killed) < 8:
            await running.wait_until(lambda: bool(set(running.workers()) - killed))
            for pid in set(running.workers()) - killed:
                killed.add(pid)
                os.kill(pid, signal.SIGKILL)
        await running.wait_for("was ended by SIGKILL before it served", 8)
        await running.wait_until(lambda: bool(set(running.workers()) - killed))
        assert "giving up" not in running.log
        running.kill()


async def test_ctrl_c_ends_workers_that_start_without_a_traceback() -> None:
    async with serve(module="tests.supervise.endless", workers=2, ready=False) as running:
        await running.wait_for("the import has begun", 2)
        for worker in running.workers():  # as a terminal does, and before the supervisor acts
            os.kill(worker, signal.SIGINT)
        running.kill(signal.SIGINT)
        assert await running.exit_code() == 0
        await running.wait_for("Stopping on SIGINT")
    assert "Traceback" not in running.log


async def test_a_worker_whose_supervisor_has_ended_before_it_begins_logs_nothing() -> None:
    ours, theirs = socketpair()
    with theirs:
        ours.close()
        command = [sys.executable, "-m", "fxtrio.server.supervise.worker", str(theirs.fileno())]
        ended = await trio.run_process(
            command, pass_fds=[theirs.fileno()], capture_stderr=True, check=False
        )
    assert (ended.returncode, ended.stderr) == (1, b"")


async def test_a_worker_that_does_not_end_makes_the_exit_code_1() -> None:
    async with serve("never_ends", workers=2, shutdown=1.0, graceful=0.5) as running:
        running.kill()
        assert await running.exit_code() == 1


async def test_workers_collect_as_seldom_as_a_single_process() -> None:
    async with serve(workers=2) as running:
        assert (await running.get("/thresholds")).body == f"{COLLECTIONS}".encode()


async def test_workers_get_deadlines_that_are_turned_off() -> None:
    off: dict[str, Any] = dict.fromkeys(("startup", "graceful", "shutdown", "hang"), inf)
    limits = ServerLimits(idle_time=inf)
    async with serve(watched=True, limits=limits, **off) as running:
        assert (await running.get()).body
    options = ServeOptions(app="a:b", limits=limits, **off)
    assert ServeOptions.from_json(options.to_json()) == options
