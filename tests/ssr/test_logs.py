"""What workers print is cut into lines, and bounded."""

from __future__ import annotations

import logging
from collections import deque
from itertools import pairwise

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.ssr.process.logs import FloodMeter, LineCutter, parse_line, read_log

text_of_lines = st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r\n", b"\n\n", b"d" * 20]))


@given(text_of_lines, st.lists(st.integers(0, 60), max_size=6))
def test_any_split_gives_the_same_lines(pieces: list[bytes], cuts: list[int]) -> None:
    data = b"".join(pieces) + b"\n"
    edges = [0, *sorted(cuts), len(data)]
    cutter = LineCutter(limit=1000)
    got = [line for start, end in pairwise(edges) for line in cutter.feed(data[start:end])]
    assert got == [line for line in data.replace(b"\r\n", b"\n").split(b"\n") if line]


def test_an_endless_line_is_cut_and_not_buffered() -> None:
    cutter = LineCutter(limit=10)
    for _ in range(1000):
        assert cutter.feed(b"x" * 100) == []
    assert len(cutter._line) == 11
    assert cutter.feed(b"\nnext\n") == [b"x" * 10 + b" [...]", b"next"]


def test_a_line_of_exactly_the_limit_is_whole() -> None:
    assert LineCutter(limit=4).feed(b"abcd\n") == [b"abcd"]


@pytest.mark.parametrize(
    ("line", "level", "text"),
    [
        (b"<7>fine", logging.DEBUG, "fine"),
        (b"<6>fine", logging.INFO, "fine"),
        (b"<4>look", logging.WARNING, "look"),
        (b"<3>bad", logging.ERROR, "bad"),
        (b"plain", logging.WARNING, "plain"),
        (b"<p>html</p>", logging.WARNING, "<p>html</p>"),
        (b"<9>not a level", logging.WARNING, "<9>not a level"),
        (b"\x1b[31mred\x07\ttab", logging.WARNING, "\\x1b[31mred\\x07\ttab"),
        ("Zoë \x85".encode(), logging.WARNING, "Zoë \\x85"),
        (b"\xff broken", logging.WARNING, "\\xff broken"),
    ],
)
def test_lines_bring_their_level_and_no_control_characters(
    line: bytes, level: int, text: str
) -> None:
    assert parse_line(line, logging.WARNING) == (level, text)


def test_a_burst_passes_and_a_flood_does_not() -> None:
    meter = FloodMeter(rate=100, burst=1000)
    assert meter.passes(1000, now=0)
    assert not meter.passes(1, now=0)


def test_a_meter_forgets_with_time() -> None:
    meter = FloodMeter(rate=100, burst=1000)
    assert meter.passes(1000, now=0)
    assert meter.passes(100, now=1)
    assert not meter.passes(101, now=2)
    assert not meter.passes(1001, now=1000)


async def test_a_flood_is_reported_once_and_read_to_its_end(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.testing.MockClock
) -> None:
    floods = []
    send, receive = trio.testing.memory_stream_one_way_pair()
    with caplog.at_level(logging.DEBUG, "fx.ssr"), trio.fail_after(10):
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def _read() -> None:
                await read_log(
                    receive,
                    level=logging.INFO,
                    pid=1,
                    tail=deque(maxlen=3),
                    on_flood=lambda: floods.append(1),
                )

            for _ in range(6):
                await send.send_all(b"x" * 1024 * 1024 + b"\n")
                await trio.testing.wait_all_tasks_blocked()
            await send.aclose()
    assert floods == [1]
    assert len(caplog.records) == 3  # each is cut; the fourth is one too many


async def test_the_last_lines_are_stored(caplog: pytest.LogCaptureFixture) -> None:
    tail: deque[str] = deque(maxlen=2)
    send, receive = trio.testing.memory_stream_one_way_pair()
    await send.send_all(b"one\n<3>two\nthree, unfinished")
    await send.aclose()
    with caplog.at_level(logging.DEBUG, "fx.ssr"):
        await read_log(receive, level=logging.INFO, pid=42, tail=tail, on_flood=pytest.fail)
    assert tail == deque(["two", "three, unfinished"])
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (logging.INFO, "one"),
        (logging.ERROR, "two"),
        (logging.INFO, "three, unfinished"),
    ]
    assert {record.ssr_pid for record in caplog.records} == {42}  # type: ignore[attr-defined]
