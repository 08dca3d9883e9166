"""No worker outlives its server, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from fxtrio.ssr.process.launch import ParentDeathPipe
from tests.ssr.pools import is_running, open_descriptors, wait_until

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.node
@pytest.mark.parametrize(
    ("how", "killed_by"),
    [
        ("kernel", signal.SIGKILL),
        ("thread", signal.SIGKILL),
        ("kernel", signal.SIGTERM),
        ("kernel", signal.SIGINT),
    ],
)
async def test_workers_end_with_their_server_even_in_an_endless_loop(
    how: str, killed_by: signal.Signals
) -> None:
    with trio.fail_after(30):
        parent = await trio.lowlevel.open_process(
            [sys.executable, "-m", "tests.ssr.parent", how],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert parent.stdout is not None
        async with parent.stdout:
            output = b""
            while not output.endswith(b"\n"):
                output += await parent.stdout.receive_some()
            pids = [int(pid) for pid in output.split()]
            assert len(pids) == 2
            assert all(map(is_running, pids))
            parent.send_signal(killed_by)
            await parent.wait()
        with trio.fail_after(30):
            await wait_until(lambda: not any(map(is_running, pids)))


async def test_a_parent_death_pipe_kills_only_when_its_owner_has_ended() -> None:
    before = open_descriptors()
    with trio.fail_after(10), ParentDeathPipe() as parent_death:
        process = await trio.lowlevel.open_process(["sleep", "60"], pass_fds=(parent_death.read,))
        parent_death.tie(process.pid)
        await trio.sleep(0.05)
        assert process.returncode is None
        os.close(parent_death._write)  # as the end of this process would
        assert await process.wait() == -signal.SIGKILL
        parent_death._write = os.open(os.devnull, os.O_RDONLY)  # for the block to close
    assert open_descriptors() <= before


async def test_a_process_that_has_died_already_is_no_error() -> None:
    with trio.fail_after(10), ParentDeathPipe() as parent_death:
        process = await trio.lowlevel.open_process(["true"], pass_fds=(parent_death.read,))
        await process.wait()
        parent_death.tie(process.pid)
