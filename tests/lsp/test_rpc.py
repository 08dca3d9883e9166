from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st
from pygls.exceptions import JsonRpcException

from fxtrio.tools.lsp.processes.supervised_process import MOST_STARTS, SupervisedProcess
from fxtrio.tools.lsp.rpc import MOST_REQUESTS, Answerer, ConnectionLost, TrioProtocol
from fxtrio.tools.lsp.server import EditorServer
from fxtrio.tools.types.report.rpc_frames import FrameInvalid

INVALID_PARAMS, METHOD_NOT_FOUND, INTERNAL_ERROR = -32602, -32601, -32603
REQUEST_CANCELLED, SERVER_CANCELLED = -32800, -32802


class Answering:
    """Answers ``double``, ``fail`` and ``wait``, and notes what was notified and cancelled."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.cancelled = 0

    @property
    def answers(self) -> dict[str, Callable[[Any], Any]]:
        return {
            "double": self.double,
            "fail": self.fail,
            "wait": self.wait,
            "hello": self.seen.append,
            "break": self.fail,
        }

    async def double(self, params: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return params * 2

    def fail(self, params: Any) -> Any:
        raise ValueError("a defect")

    async def wait(self, params: Any) -> None:
        try:
            await trio.sleep_forever()
        finally:
            self.cancelled += 1


@asynccontextmanager
async def open_bare(protocol: TrioProtocol) -> AsyncIterator[trio.abc.Stream]:
    """Yield the stream whose other end ``protocol`` is on."""
    near, far = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        await nursery.start(protocol.serve, far, far)
        yield near
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def open_pair(answering: Answering) -> AsyncIterator[TrioProtocol]:
    """Yield one side of a connection, whose other side answers."""
    asking = Answerer("far", {}).protocol
    async with open_bare(Answerer("near", answering.answers).protocol) as stream:
        async with trio.open_nursery() as nursery:
            await nursery.start(asking.serve, stream, stream)
            yield asking
            nursery.cancel_scope.cancel()


def framed(message: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


async def read_messages(stream: trio.abc.ReceiveStream, count: int) -> list[Any]:
    data = b""
    while data.count(b"Content-Length") < count or not data.endswith(b"}"):
        data += await stream.receive_some()
    return [json.loads(one.partition(b"\r\n\r\n")[2]) for one in data.split(b"Content-Length")[1:]]


async def test_requests_are_answered_side_by_side() -> None:
    answering = Answering()
    async with open_pair(answering) as peer, trio.open_nursery() as nursery:
        waiting = trio.CancelScope()

        async def ask() -> None:
            with waiting:
                await peer.ask("wait", None)

        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        waiting.cancel()
        await trio.testing.wait_all_tasks_blocked()
        peer.notify("hello", [1])
        doubled = await peer.ask("double", 21)
        with pytest.raises(JsonRpcException) as unknown:
            await peer.ask("nothing", None)

    assert waiting.cancelled_caught
    assert (doubled, answering.seen, answering.cancelled) == (42, [[1]], 1)
    assert unknown.value.code == METHOD_NOT_FOUND


async def test_a_defect_is_reported_and_ends_nothing() -> None:
    async with open_pair(Answering()) as peer:
        with pytest.raises(JsonRpcException, match="a defect") as failed:
            await peer.ask("fail", None)
        peer.notify("break", None)
        doubled = await peer.ask("double", 1)

    assert failed.value.code == INTERNAL_ERROR
    assert doubled == 2


async def test_an_invalid_request_is_rejected_and_the_next_one_answered() -> None:
    async with open_bare(EditorServer().protocol) as stream:
        await stream.send_all(b"Content-Length: 1\r\n\r\n{")
        await stream.send_all(framed({"id": 7, "result": "nobody has asked"}))
        await stream.send_all(framed({"id": 8, "method": "textDocument/hover", "params": {}}))
        await stream.send_all(framed({"id": "x", "method": "shutdown"}))
        found = await read_messages(stream, 2)

    assert [(one["id"], one.get("error", {}).get("code")) for one in found] == [
        (8, INVALID_PARAMS),
        ("x", None),
    ]


async def test_requests_without_end_are_rejected_and_those_that_run_can_be_cancelled() -> None:
    answering = Answering()
    async with open_bare(Answerer("near", answering.answers).protocol) as stream:
        for number in range(MOST_REQUESTS + 1):
            await stream.send_all(framed({"id": number, "method": "wait"}))
        (rejected,) = await read_messages(stream, 1)
        await stream.send_all(framed({"method": "$/cancelRequest", "params": {"id": 3}}))
        (cancelled,) = await read_messages(stream, 1)
        assert answering.cancelled == 1

    assert (rejected["id"], rejected["error"]["code"]) == (MOST_REQUESTS, SERVER_CANCELLED)
    assert (cancelled["id"], cancelled["error"]["code"]) == (3, REQUEST_CANCELLED)
    assert answering.cancelled == MOST_REQUESTS


async def test_who_waits_for_a_side_that_ends_is_notified() -> None:
    near, far = trio.testing.memory_stream_pair()
    peer = Answerer("far", {}).protocol
    async with trio.open_nursery() as nursery:
        await nursery.start(peer.serve, near, near)

        async def ask() -> None:
            with pytest.raises(ConnectionLost):
                await peer.ask("wait", None)

        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        await far.aclose()
    with pytest.raises(ConnectionLost):
        await peer.ask("hello", None)


async def test_who_waits_for_an_editor_that_leaves_is_notified() -> None:
    protocol = EditorServer().protocol
    async with open_bare(protocol) as stream, trio.open_nursery() as nursery:

        async def ask() -> None:
            with pytest.raises(ConnectionLost):
                await protocol.ask("workspace/codeLens/refresh", None)

        nursery.start_soon(ask)
        await read_messages(stream, 1)
        await stream.send_all(framed({"id": 1, "method": "shutdown"}))
        (answer,) = await read_messages(stream, 1)

    assert answer == {"id": 1, "jsonrpc": "2.0", "result": None}


async def test_a_side_that_reads_nothing_is_abandoned(
    autojump_clock: trio.testing.MockClock,
) -> None:
    near, far = trio.testing.lockstep_stream_pair()
    peer = Answerer("far", {}).protocol
    async with trio.open_nursery() as nursery:
        await nursery.start(peer.serve, near, near)
        with pytest.raises(ConnectionLost):
            await peer.ask("anything", None)
    await far.aclose()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@settings(deadline=None, max_examples=50)
@given(st.lists(JSON, max_size=5), st.lists(st.integers(1, 40), min_size=1))
async def test_messages_come_out_as_they_went_in_however_their_bytes_are_cut(
    sent: list[Any], sizes: list[int]
) -> None:
    answering = Answering()
    data = b"".join(framed({"method": "hello", "params": one}) for one in sent)
    async with open_bare(Answerer("near", answering.answers).protocol) as stream:
        for size in sizes:
            piece, data = data[:size], data[size:]
            await stream.send_all(piece)
            await trio.testing.wait_all_tasks_blocked()
        await stream.send_all(data)
        await trio.testing.wait_all_tasks_blocked()

    assert answering.seen == sent


@pytest.mark.parametrize("data", [b"x" * 5000, b"Content-Length: 999999999999\r\n\r\n"])
async def test_an_invalid_message_ends_the_connection(data: bytes) -> None:
    near, far = trio.testing.memory_stream_pair()
    await near.send_all(data)

    with pytest.raises(FrameInvalid):
        await Answerer("near", {}).protocol.serve(far, far)


DIES = """
import sys
sys.stdin.buffer.read(1)
sys.exit(3)
"""


async def test_a_process_that_dies_is_started_again_and_then_no_more(tmp_path: Path) -> None:
    lines: list[str] = []
    process = SupervisedProcess(
        "child", [sys.executable, "-c", DIES], cwd=tmp_path, report=lines.append
    )
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(process.run)
            while len(lines) < MOST_STARTS:
                with pytest.raises(ConnectionLost):
                    await process.request("anything", None)
                await trio.lowlevel.checkpoint()
        with pytest.raises(ConnectionLost):
            await process.request("anything", None)

    assert process.starts == MOST_STARTS
    assert lines[0] == "child: it has ended with 3, so it restarts."
    assert lines[-1] == "child: it has ended with 3, so it is not restarted."
    assert len(lines) == MOST_STARTS


async def test_a_program_that_is_not_there_is_reported_once(tmp_path: Path) -> None:
    lines: list[str] = []
    process = SupervisedProcess("child", ["no-such-program"], cwd=tmp_path, report=lines.append)
    await process.run()

    (line,) = lines
    assert line.startswith("child: it cannot be started: ")
    assert line.endswith("so it is not restarted.")
