"""Input that nobody thought of: it ends a connection at most, and is read in one way only."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from fxtrio.http1 import ServerLimits
from fxtrio.http1.conversation import Conversation
from fxtrio.http1.request import RequestReader
from fxtrio.http1.target import BadTarget, split_target
from fxtrio.supervise.access import escape

from .frames import frame
from .mutations import damaged, run

LIMITS = ServerLimits(head=4000, request_line=1000, body=50_000)


def read(pieces: list[bytes]) -> list[Any]:
    """Return what `RequestReader` makes of bytes that come in these pieces."""
    reader = RequestReader(LIMITS)
    for piece in pieces:
        reader.feed(piece)
    found: list[Any] = []
    for request in reader.requests:
        if not request.head_done:
            continue
        try:
            target: Any = split_target(request, secure=False)
        except BadTarget:
            target = "bad"
        body = b"".join(request.chunks)
        found.append((request.method, target, request.headers, body, request.complete))
    reader.close()
    # Which limit is met first may depend on the pieces, but not that something is refused.
    return [*found, reader.refusal is None, reader.rest]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in pairwise(edges)]


@settings(max_examples=300, deadline=None)
@given(st.integers(min_value=0), st.lists(st.integers(min_value=0), max_size=8))
def test_requests_do_not_depend_on_where_reads_cut_them(seed: int, places: list[int]) -> None:
    data = damaged(random.Random(seed))
    if len(data) < 60_000:  # a head of that size meets its limit sooner in smaller pieces
        assert read(cut(data, places)) == read([data])


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300), st.lists(st.integers(min_value=0), max_size=4))
def test_any_bytes_are_requests_or_refused(data: bytes, places: list[int]) -> None:
    assert read(cut(data, places)) == read([data])


def converse(pieces: list[bytes]) -> list[Any]:
    """Return the messages, the output and the end of a WebSocket that gets these pieces."""
    conversation = Conversation(ServerProtocol(state=OPEN, max_size=20_000), 1_000_000)
    messages, output = [], b""
    for piece in pieces:
        conversation.feed(piece)
        output += conversation.take_output()
        while conversation.messages:
            messages.append(conversation.next_message())
            conversation.resume()
            output += conversation.take_output()
    conversation.end()
    return [messages, output + conversation.take_output(), conversation.close]


frames = st.builds(
    frame,
    st.integers(0, 15),
    st.one_of(st.binary(max_size=200), st.text(max_size=50).map(str.encode)),
    fin=st.booleans(),
    rsv=st.sampled_from([0, 0, 0, 0, 4]),
    masked=st.sampled_from([True, True, True, True, False]),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(frames, max_size=6), st.binary(max_size=10), st.lists(st.integers(0), max_size=6))
def test_messages_do_not_depend_on_where_reads_cut_them(
    sent: list[bytes], noise: bytes, places: list[int]
) -> None:
    data = b"".join(sent) + noise
    assert converse(cut(data, places)) == converse([data])


@given(st.binary(max_size=200))
def test_nothing_a_client_sends_leaves_its_line_of_the_access_log(data: bytes) -> None:
    line = escape(data)
    assert line.isprintable()
    assert '"' not in line
    assert len(line.splitlines()) <= 1


async def test_damaged_requests_cost_nothing_but_their_connection() -> None:
    assert await run(seconds=3, seed=random.randrange(10**9)) > 50


async def test_the_samples_are_taken_when_they_are_not_damaged() -> None:
    from .mutations import HTTP
    from .support import open_server, response

    async with open_server(response(200, b"")) as server:
        for sample in HTTP[:-1]:
            assert b"HTTP/1.1 200 " in await server.ask(sample)
