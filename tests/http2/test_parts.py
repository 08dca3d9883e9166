"""The parts of the HTTP/2 guard by themselves: no sockets, and time that takes none."""

from __future__ import annotations

from itertools import pairwise

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock, wait_all_tasks_blocked

from fxtrio.server.http1 import ServerLimits
from fxtrio.server.http1.response import BadResponse
from fxtrio.server.http2.frame_rate_limit import FrameRateLimit, Overdrawn
from fxtrio.server.http2.headers import check_request, response_head
from fxtrio.server.http2.receive_queue import ReceiveQueue

from .client import CONTINUATION, DATA, END_STREAM, HEADERS, PING, PREFACE, RESET, SETTINGS, frame

USEFUL = [
    frame(HEADERS, 0, 1, b"*" * 900),
    frame(CONTINUATION, 0, 1, b"*" * 100),
    frame(DATA, 0, 1, b"*" * 2000),
    frame(DATA, END_STREAM, 1),
]


def over(data: bytes, *cuts: int) -> bool:
    """Return whether a gauge has had enough of ``data``, sent in pieces."""
    gauge = FrameRateLimit(1000)
    edges = sorted({0, *(cut % (len(data) + 1) for cut in cuts), len(data)})
    try:
        for start, end in pairwise(edges):
            gauge.feed(data[start:end], 0)
    except Overdrawn:
        return True
    return False


@given(
    st.lists(st.sampled_from([*USEFUL, frame(PING, 0, 0, bytes(8))]), max_size=30),
    st.lists(st.integers(min_value=0)),
)
def test_where_reads_cut_frames_makes_no_difference(frames: list[bytes], cuts: list[int]) -> None:
    data = PREFACE + b"".join(frames)
    assert over(data, *cuts) is over(data)


@pytest.mark.parametrize(
    ("sent", "most"),
    [
        (frame(PING, 0, 0, bytes(8)), 2000),
        (frame(RESET, 0, 1, bytes(4)), 200),
        (frame(SETTINGS, 0, 0, bytes(600)), 20),
        (frame(DATA, 0, 1), 2000),
        (frame(DATA, 0, 1, b"*"), 2000),
    ],
)
def test_frames_that_ask_for_nothing_are_rationed(sent: bytes, most: int) -> None:
    assert not over(PREFACE + sent * (most - 1))
    assert over(PREFACE + sent * (most + 1))


def test_requests_and_bodies_are_not() -> None:
    assert not over(PREFACE + b"".join(USEFUL[:1] + USEFUL[2:]) * 5000)


def test_a_header_block_has_a_limit_however_it_is_cut() -> None:
    assert not over(PREFACE + USEFUL[0] + USEFUL[1])
    assert over(PREFACE + USEFUL[0] + USEFUL[1] * 2)


def test_time_and_answers_pay_for_frames() -> None:
    gauge = FrameRateLimit(1000)
    gauge.feed(PREFACE + frame(PING, 0, 0, bytes(8)) * 2000, 0)
    gauge.feed(frame(PING, 0, 0, bytes(8)) * 1000, 1)
    gauge.earn(5)
    gauge.feed(frame(PING, 0, 0, bytes(8)) * 5, 1)
    with pytest.raises(Overdrawn):
        gauge.feed(frame(PING, 0, 0, bytes(8)), 1)


def test_a_head_is_checked_as_the_parser_of_http1_does() -> None:
    request = [(b":method", b"GET"), (b":path", b"/a?b"), (b":authority", b"a:1")]
    assert check_request(request, ServerLimits(), ended=True) is None
    options = [(b":method", b"OPTIONS"), (b":path", b"*"), (b":authority", b"[::1]")]
    assert check_request(options, ServerLimits(), ended=True) is None
    many = [*request, *[(b"x", b"")] * 101]
    rejection = check_request(many, ServerLimits(), ended=True)
    assert rejection is not None
    assert rejection.status == 431


def test_an_answer_takes_no_line_feeds_and_keeps_its_own_date() -> None:
    assert response_head(200, [(b"Date", b"x")], [(b"date", b"y"), (b"server", b"z")]) == [
        (b":status", b"200"),
        (b"date", b"x"),
        (b"server", b"z"),
    ]
    for name, value in ((b"a", b"b\nc: d"), (b"a b", b""), (b"", b"")):
        with pytest.raises(BadResponse):
            response_head(200, [(name, value)], [])


def part(body: bytes, *, more: bool = True) -> dict[str, object]:
    return {"type": "http.request", "body": body, "more_body": more}


async def test_a_body_comes_in_one_piece_and_then_the_disconnect() -> None:
    queue = ReceiveQueue()
    await queue.put(part(b"a"))
    await queue.put(part(b"b", more=False))
    await queue.put({"type": "http.disconnect"})
    assert await queue.receive() == part(b"ab", more=False)
    assert not queue.disconnect_received
    for _ in range(2):
        assert await queue.receive() == {"type": "http.disconnect"}
    assert queue.disconnect_received


async def test_buffered_data_is_received_without_a_wait() -> None:
    queue = ReceiveQueue()
    queue.leave({"type": "http.disconnect"})
    with trio.CancelScope() as scope:
        scope.cancel()
        assert (await queue.receive())["type"] == "http.disconnect"


@pytest.mark.parametrize("end", ["take", "close", "leave"])
async def test_whoever_puts_too_much_waits_for_room_and_not_forever(end: str) -> None:
    queue = ReceiveQueue()
    done = []

    async def put() -> None:
        await queue.put(part(b"*" * 100_000))
        done.append(True)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(put)
        await wait_all_tasks_blocked()
        assert not done
        if end == "take":
            await queue.receive()
        elif end == "close":
            queue.close()
        else:
            queue.leave({"type": "http.disconnect"})
    assert done


async def test_a_slow_body_is_abandoned_by_the_time_that_was_waited_for_it(
    autojump_clock: MockClock,
) -> None:
    async def give_up() -> None:
        queue.leave({"type": "http.disconnect"})

    queue = ReceiveQueue(taken=list, allowed=lambda waited: 10 - waited, overdue=give_up)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(queue.receive)
        await trio.sleep(6)
        await queue.put(part(b"*"))
    await trio.sleep(100)  # the application's own time does not count
    assert (await queue.receive())["type"] == "http.disconnect"
    assert trio.current_time() == 110
