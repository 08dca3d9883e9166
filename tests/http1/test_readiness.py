"""Waiting for sockets: in the first few, for which trio waits, and in a crowd."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from fxtrio.server.http1.readiness import Readiness, Watch


@contextmanager
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    near, far = socket.socketpair()
    near.setblocking(False)
    with closing(near), closing(far):
        yield near, far


@asynccontextmanager
async def watching(near: socket.socket, others: int) -> AsyncIterator[Watch]:
    """Watch a socket after ``others`` of them, whose descriptors were watched before."""
    readiness = Readiness()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(readiness.run)
        with ExitStack() as stack:
            crowd = [stack.enter_context(pair())[0] for _ in range(others)]
            for one in crowd:
                readiness.watch(one.fileno()).close()
            watches = [readiness.watch(one.fileno()) for one in crowd]
            yield readiness.watch(near.fileno())
            for other in watches:
                other.close()
        nursery.cancel_scope.cancel()


crowds = pytest.mark.parametrize("others", [0, 20])


@crowds
async def test_a_wait_ends_when_bytes_come(others: int) -> None:
    with pair() as (near, far), trio.fail_after(5):
        async with watching(near, others) as watch:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(watch.wait)
                await wait_all_tasks_blocked()
                far.send(b"a")
            assert os.read(near.fileno(), 10) == b"a"
            watch.close()


@crowds
async def test_bytes_that_came_before_the_wait_are_not_missed(others: int) -> None:
    with pair() as (near, far), trio.fail_after(5):
        async with watching(near, others) as watch:
            far.send(b"a")
            await wait_all_tasks_blocked()
            await watch.wait()
            watch.close()


@crowds
async def test_a_cancelled_wait_leaves_what_came_for_the_next(others: int) -> None:
    with pair() as (near, far), trio.fail_after(5):
        async with watching(near, others) as watch:
            with trio.move_on_after(0):
                await watch.wait()
            far.send(b"a")
            await wait_all_tasks_blocked()
            with trio.CancelScope() as scope:
                scope.cancel()
                await watch.wait()
            assert scope.cancelled_caught
            await watch.wait()
            watch.close()


@crowds
async def test_a_read_that_may_have_left_something_behind_is_followed_by_another(
    others: int,
) -> None:
    with pair() as (near, far), trio.fail_after(5):
        async with watching(near, others) as watch:
            far.send(b"abcd")
            await watch.wait()
            assert os.read(near.fileno(), 2) == b"ab"
            watch.more()
            await watch.wait()
            assert os.read(near.fileno(), 2) == b"cd"
            watch.close()


@crowds
async def test_the_end_is_seen_behind_the_last_bytes(others: int) -> None:
    with pair() as (near, far), trio.fail_after(5):
        async with watching(near, others) as watch:
            far.send(b"a")
            far.close()
            await watch.wait()
            assert os.read(near.fileno(), 10) == b"a"
            await watch.wait()
            assert os.read(near.fileno(), 10) == b""
            watch.close()


@crowds
async def test_a_waiting_task_gets_an_error_when_the_socket_is_closed(others: int) -> None:
    with pair() as (near, _), trio.fail_after(5):
        async with watching(near, others) as watch, trio.open_nursery() as nursery:
            nursery.start_soon(_expect_closed, watch)
            await wait_all_tasks_blocked()
            watch.close()


async def test_a_socket_joins_the_set_once_there_is_a_crowd(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    readiness = Readiness()
    waited: list[int] = []
    wait_readable = trio.lowlevel.wait_readable

    async def counted(fd: int) -> None:
        waited.append(fd)
        await wait_readable(fd)

    monkeypatch.setattr(trio.lowlevel, "wait_readable", counted)
    with pair() as (near, far), ExitStack() as stack, trio.fail_after(5):
        watch = readiness.watch(near.fileno())
        crowd = [stack.enter_context(pair())[0] for _ in range(20)]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(readiness.run)
            far.send(b"a")
            await watch.wait()
            assert os.read(near.fileno(), 10) == b"a"
            others = [readiness.watch(one.fileno()) for one in crowd]
            far.send(b"b")
            await watch.wait()
            assert os.read(near.fileno(), 10) == b"b"
            for other in others:
                other.close()
            far.send(b"c")
            await watch.wait()
            nursery.cancel_scope.cancel()
        assert waited.count(near.fileno()) == 1
        watch.close()


async def _expect_closed(watch: Watch) -> None:
    with pytest.raises(trio.ClosedResourceError):
        await watch.wait()
