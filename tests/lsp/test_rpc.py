from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from fxtrio.lsp.kept_process import MOST_STARTS, Deaf, KeptProcess
from fxtrio.lsp.rpc import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    MOST_REQUESTS,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    SERVER_CANCELLED,
    Answer,
    ConnectionLost,
    RequestRefused,
    RpcPeer,
)
from fxtrio.lsp.wire import MessageReader


class Answering:
    """Answers ``double``, ``fail`` and ``wait``, and notes what was notified and cancelled."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.cancelled = 0

    def requested(self, method: str, params: Any) -> Answer:
        async def double() -> Any:
            await trio.lowlevel.checkpoint()
            return params * 2

        async def fail() -> Any:
            raise ValueError("a defect")

        async def wait() -> Any:
            try:
                await trio.sleep_forever()
            finally:
                self.cancelled += 1

        answers = {"double": double, "fail": fail, "wait": wait}
        if method not in answers:
            raise RequestRefused(METHOD_NOT_FOUND, method)
        return answers[method]

    def notified(self, method: str, params: Any) -> None:
        self.seen.append((method, params))
        if method == "break":
            raise ValueError("a defect")


@asynccontextmanager
async def open_pair(handler: Answering) -> AsyncIterator[tuple[RpcPeer, trio.StapledStream]]:
    """Yield one side, and the bare stream that the other, answered by ``handler``, is on."""
    near, far = trio.testing.memory_stream_pair()
    peer = RpcPeer("far", near, near)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(RpcPeer("near", far, far).run, handler)
        yield peer, near
        nursery.cancel_scope.cancel()


async def test_requests_are_answered_side_by_side() -> None:
    handler = Answering()
    async with open_pair(handler) as (peer, _), trio.open_nursery() as nursery:
        nursery.start_soon(peer.run, Deaf())
        waiting = trio.CancelScope()

        async def ask() -> None:
            with waiting:
                await peer.request("wait", None)

        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        waiting.cancel()
        await trio.testing.wait_all_tasks_blocked()
        await peer.notify("hello", [1])
        doubled = await peer.request("double", 21)
        with pytest.raises(RequestRefused) as unknown:
            await peer.request("nothing", None)
        nursery.cancel_scope.cancel()

    assert waiting.cancelled_caught
    assert (doubled, handler.seen, handler.cancelled) == (42, [("hello", [1])], 1)
    assert unknown.value.code == METHOD_NOT_FOUND


async def test_a_defect_is_told_and_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async with open_pair(Answering()) as (peer, _), trio.open_nursery() as nursery:
        nursery.start_soon(peer.run, Deaf())
        with pytest.raises(RequestRefused) as failed:
            await peer.request("fail", None)
        await peer.notify("break", None)
        doubled = await peer.request("double", 1)
        nursery.cancel_scope.cancel()

    assert failed.value.code == INTERNAL_ERROR
    assert doubled == 2
    assert [record.getMessage() for record in caplog.records] == [
        "near: fail failed",
        "near: break failed",
    ]


async def read_messages(stream: trio.abc.ReceiveStream, count: int) -> list[Any]:
    reader = MessageReader()
    found: list[Any] = []
    while len(found) < count:
        found += reader.feed(await stream.receive_some())
    return found


async def test_what_is_no_request_is_refused_and_the_next_one_answered() -> None:
    async with open_pair(Answering()) as (peer, near):
        await near.send_all(b"Content-Length: 1\r\n\r\n{")
        await peer.send({"id": [], "method": "double", "params": 1})
        await peer.send({"id": 7, "result": "nobody has asked"})
        await peer.send({"id": "x", "method": "double", "params": 1})
        found = await read_messages(near, 3)

    assert [one.get("error", {}).get("code") or one["result"] for one in found] == [
        PARSE_ERROR,
        -32600,
        2,
    ]


async def test_requests_without_end_are_refused() -> None:
    handler = Answering()
    async with open_pair(handler) as (peer, near):
        for number in range(MOST_REQUESTS + 1):
            await peer.send({"id": number, "method": "wait"})
        (refused,) = await read_messages(near, 1)
        await peer.notify("$/cancelRequest", {"id": 3})
        (cancelled,) = await read_messages(near, 1)

    assert (refused["id"], refused["error"]["code"]) == (MOST_REQUESTS, SERVER_CANCELLED)
    assert (cancelled["id"], cancelled["error"]["code"]) == (3, REQUEST_CANCELLED)
    assert handler.cancelled == MOST_REQUESTS


async def test_who_waits_for_a_side_that_ends_is_told() -> None:
    near, far = trio.testing.memory_stream_pair()
    peer = RpcPeer("far", near, near)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(peer.run, Deaf())

        async def ask() -> None:
            with pytest.raises(ConnectionLost):
                await peer.request("wait", None)

        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        await far.aclose()
    with pytest.raises(ConnectionLost):
        await peer.notify("hello", None)


DIES = """
import sys
sys.stdin.buffer.read(1)
sys.exit(3)
"""


async def test_a_process_that_dies_is_started_again_and_then_no_more(tmp_path: Path) -> None:
    lines: list[str] = []
    kept = KeptProcess("child", [sys.executable, "-c", DIES], cwd=tmp_path, report=lines.append)
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(kept.run)
            while len(lines) < MOST_STARTS:
                with pytest.raises(ConnectionLost):
                    await kept.request("anything", None)
                await trio.lowlevel.checkpoint()
        with pytest.raises(ConnectionLost):
            await kept.request("anything", None)

    assert kept.starts == MOST_STARTS
    assert lines[0] == "child: it has ended with 3, so it is started again."
    assert lines[-1] == "child: it has ended with 3, so it is not started again."
    assert len(lines) == MOST_STARTS


async def test_a_program_that_is_not_there_is_told_once(tmp_path: Path) -> None:
    lines: list[str] = []
    kept = KeptProcess("child", ["no-such-program"], cwd=tmp_path, report=lines.append)
    await kept.run()

    (line,) = lines
    assert line.startswith("child: it cannot be started: ")
    assert line.endswith("so it is not started again.")
