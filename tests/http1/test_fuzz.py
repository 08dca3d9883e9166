"""Input that nobody thought of: it ends a connection at most, and is read in one way only.

Also a tool: ``python -m tests.http1.test_fuzz --seconds 600`` looks for examples for that
long, instead of the few hundred of a test run.
"""

from __future__ import annotations

import argparse
import random
import time
from itertools import pairwise
from typing import Any

import h11
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from fxtrio.server.http1 import ServerLimits
from fxtrio.server.http1.request import RequestReader
from fxtrio.server.http1.target import BadTarget, split_target
from fxtrio.server.http1.websocket.protocol import WsProtocol
from fxtrio.server.supervise.logs.access_log import escape
from tests.short import amount

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
    return [*found, reader.rejection is None, reader.rest]


def exceeds(pieces: list[bytes]) -> bool:
    """Whether the end of a message was not waited for, which is noticed at the end of a read."""
    reader = RequestReader(LIMITS)
    for piece in pieces:
        reader.feed(piece)
    reader.close()
    return reader.rejection is not None and reader.rejection.status in (413, 431)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in pairwise(edges)]


@settings(max_examples=amount(75, short=10, long=300))
@given(st.integers(min_value=0), st.lists(st.integers(min_value=0), max_size=8))
def test_requests_do_not_depend_on_where_reads_cut_them(seed: int, places: list[int]) -> None:
    data = damaged(random.Random(seed))
    pieces = cut(data, places)
    if not exceeds(pieces) and not exceeds([data]):
        assert read(pieces) == read([data])


@settings(max_examples=amount(75, short=10, long=300))
@given(st.binary(max_size=300), st.lists(st.integers(min_value=0), max_size=4))
def test_any_bytes_are_requests_or_rejected(data: bytes, places: list[int]) -> None:
    assert read(cut(data, places)) == read([data])


def read_by_h11(data: bytes) -> list[Any]:
    """Return what h11 makes of it: method, target and body of each request that is whole."""
    server = h11.Connection(h11.SERVER, max_incomplete_event_size=200_000)
    server.receive_data(data)
    found: list[Any] = []
    try:
        while True:
            event = server.next_event()
            if isinstance(event, h11.Request):
                head, body = (event.method, event.target), b""
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                found.append((*head, body))
                server.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
                server.send(h11.EndOfMessage())
                server.start_next_cycle()
            else:
                return found
    except h11.ProtocolError:
        return found


@settings(max_examples=amount(75, short=10, long=300))
@given(st.integers(min_value=0))
def test_whole_requests_are_those_that_another_parser_reads(seed: int) -> None:
    data = damaged(random.Random(seed))
    reader = RequestReader(ServerLimits())
    reader.feed(data)
    if reader.rest is not None:
        return  # h11 does not go on behind an offer to upgrade
    ours = [
        (request.method.encode(), request.target, b"".join(request.chunks))
        for request in reader.requests
        if request.complete
    ]
    reader.close()
    theirs = read_by_h11(data)
    # Either may refuse earlier, but both must see the same requests up to there.
    for one, other in zip(ours, theirs, strict=False):
        assert one == other


def converse(pieces: list[bytes]) -> list[Any]:
    """Return the messages, the output and the end of a WebSocket that gets these pieces."""
    protocol = WsProtocol(ServerProtocol(state=OPEN, max_size=20_000), 1_000_000)
    messages, output = [], b""
    for piece in pieces:
        protocol.feed(piece)
        output += protocol.take_output()
        while protocol.messages:
            messages.append(protocol.next_message())
            protocol.resume()
            output += protocol.take_output()
    protocol.end()
    return [messages, output + protocol.take_output(), protocol.close]


frames = st.builds(
    frame,
    st.integers(0, 15),
    st.one_of(st.binary(max_size=200), st.text(max_size=50).map(str.encode)),
    fin=st.booleans(),
    rsv=st.sampled_from([0, 0, 0, 0, 4]),
    masked=st.sampled_from([True, True, True, True, False]),
)


@settings(max_examples=amount(75, short=10, long=300))
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
    assert await run(seconds=3, seed=random.randrange(10**9)) > 10


async def test_the_samples_are_taken_when_they_are_not_damaged() -> None:
    from .mutations import HTTP
    from .support import open_server, response

    async with open_server(response(200, b"")) as server:
        for sample in HTTP[:-1]:
            assert b"HTTP/1.1 200 " in await server.ask(sample)


def main() -> None:
    """Run every property in turn, again and again, until the time is over."""
    parser = argparse.ArgumentParser(description="Look for input that breaks a rule.")
    parser.add_argument("--seconds", type=float, default=600)
    until = time.monotonic() + parser.parse_args().seconds
    rounds = 0
    while time.monotonic() < until:
        rounds += 1
        for check in (
            test_requests_do_not_depend_on_where_reads_cut_them,
            test_any_bytes_are_requests_or_rejected,
            test_whole_requests_are_those_that_another_parser_reads,
            test_messages_do_not_depend_on_where_reads_cut_them,
            test_nothing_a_client_sends_leaves_its_line_of_the_access_log,
        ):
            check()
    print(f"{rounds} rounds of up to 300 examples of 5 properties, no error")


if __name__ == "__main__":
    main()
