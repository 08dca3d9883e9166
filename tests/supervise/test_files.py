"""Few open files: how many connections fit, who says so."""

from __future__ import annotations

import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from fxtrio.server.http1 import ServerLimits
from fxtrio.server.supervise.listening.fd_limit import OpenFiles, count_open_files

from .support import serve

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


def granted(files: int) -> tuple[str, ...]:
    """Return what a command is started with that may have so many files open."""
    limit = f"import os, resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, ({files},) * 2)"
    return sys.executable, "-c", f"{limit}; os.execv(sys.argv[1], sys.argv[1:])"


@pytest.mark.parametrize(("files", "most"), [(64, 48), (128, 96), (1024, 896)])
async def test_the_granted_limit_is_used_and_a_shortage_reported(files: int, most: int) -> None:
    async with serve(wrap=granted(files)) as running, AsyncExitStack() as stack:
        (limit,) = await running.wait_for(
            rf"\[WARNING\] The system allows this process {files} open files, so (\d+) "
            r"connections fit, not 10000. Raise the hard limit .* or lower limits.connections"
        )
        room = int(limit)
        assert most - 24 < room < most  # the process has files open already
        for _ in range(min(room, 60)):
            client = await stack.enter_async_context(await running.connect())
            await client.send(GET)
            assert (await client.reply()).status == 200
    assert "no connection can be accepted" not in running.log


async def test_nothing_is_reported_where_all_connections_fit() -> None:
    async with serve(limits=ServerLimits(connections=50)) as running:
        assert (await running.get()).status == 200
    assert "WARNING" not in running.log


async def test_files_of_the_application_are_counted_and_nothing_fails_for_want_of_one() -> None:
    async with serve(module="tests.supervise.files", wrap=granted(64)) as running:
        for _ in range(2):  # it recovers
            answered = 0

            async def ask(stack: AsyncExitStack) -> None:
                nonlocal answered
                client = await stack.enter_async_context(await running.connect())
                await client.send(GET)
                reply = await client.reply()
                assert (reply.status, reply.body) == (200, b"read")
                answered += 1
                idle.deadline = trio.current_time() + 2

            async with AsyncExitStack() as stack:
                with trio.move_on_after(30) as idle:
                    async with trio.open_nursery() as nursery:
                        for _ in range(60):
                            nursery.start_soon(ask, stack)
                assert 4 < answered < 40  # the others wait
        assert (await running.get()).status == 200
    assert running.log.count("files that the system allows are open") == 1
    assert "Too many open files" not in running.log
    assert "Traceback" not in running.log


async def test_files_are_counted_again_while_they_are_short(autojump_clock: MockClock) -> None:
    used = 50
    files = OpenFiles(64, lambda: used)  # 16 are spare
    assert files.room(50) == -2
    used = 20
    assert files.room(20) == -2 + 30 - 0
    await trio.sleep(0.3)
    assert files.room(20) == 28
    used = 60  # 40 of them are no connections
    assert files.room(20) == 28
    await trio.sleep(2.1)
    assert files.room(20) == -12


def test_without_a_limit_there_is_room() -> None:
    assert OpenFiles(None).room(100_000) > 100_000


def test_open_descriptors_are_counted() -> None:
    before = count_open_files()
    with Path(os.devnull).open():
        after = count_open_files()
    assert before is not None
    assert after == before + 1
