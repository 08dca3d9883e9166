"""Heads that come again: what is looked up is what the parser would say, and nobody else's."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fxtrio.server.http1 import ServerLimits
from fxtrio.server.http1.known_heads import LONGEST, KnownHeads
from fxtrio.server.http1.request import Request, RequestReader
from tests.short import amount

from .mutations import damaged
from .test_fuzz import LIMITS, cut

HOST = b"host: a.example\r\n"
GET = b"GET /a HTTP/1.1\r\n" + HOST + b"accept: */*\r\n\r\n"
POST = b"POST /a HTTP/1.1\r\n" + HOST + b"content-length: 4\r\n\r\n"


def seen(request: Request) -> dict[str, Any]:
    """Return all that there is to say of a request."""
    names = {name for name in vars(Request) if not name.startswith("_")} | vars(request).keys()
    values = {name: getattr(request, name) for name in names - {"known", "alone", "chunks"}}
    del values["as_known"]
    return {**values, "body": b"".join(request.chunks)}


def read(pieces: list[bytes], heads: KnownHeads) -> list[Any]:
    """Return what a connection makes of bytes that come in these pieces."""
    reader = RequestReader(LIMITS, heads)
    for piece in pieces:
        reader.feed(piece)
    reader.close()
    return [*map(seen, reader.requests), reader.rejection, reader.rest]


def known(reader: RequestReader) -> list[bool]:
    return [request.known is not None for request in reader.requests]


def fed(*pieces: bytes, heads: KnownHeads | None = None) -> RequestReader:
    reader = RequestReader(ServerLimits(), heads)
    for piece in pieces:
        reader.feed(piece)
    return reader


@settings(max_examples=amount(150, short=20, long=1000))
@given(st.integers(min_value=0), st.lists(st.integers(min_value=0), max_size=4))
def test_what_comes_again_is_read_as_before(seed: int, places: list[int]) -> None:
    pieces = cut(damaged(random.Random(seed)), places)
    heads = KnownHeads()
    for _ in range(3):
        assert read(pieces, heads) == read(pieces, KnownHeads())
    assert read(pieces * 3, heads) == read(pieces * 3, KnownHeads())


@pytest.mark.parametrize("data", [GET, b"\r\n" + GET, POST + b"body", POST.replace(b": 4", b": 0")])
def test_the_third_of_equal_requests_is_not_parsed(data: bytes) -> None:
    reader = fed(data, data, data)
    assert known(reader) == [False, False, True]
    first, _, third = reader.requests
    assert seen(first) == seen(third)


@pytest.mark.parametrize(
    "line",
    [
        b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"connection: close\r\n\r\n",
        b"expect: 100-continue\r\ncontent-length: 1\r\n\r\nx",
        b"upgrade: h2c\r\n\r\n",
        b"x: " + b"x" * LONGEST + b"\r\n\r\n",
    ],
)
def test_a_request_with_more_than_its_head_is_parsed(line: bytes) -> None:
    heads, data = KnownHeads(), b"POST /a HTTP/1.1\r\n" + HOST + line
    for _ in range(4):
        reader = fed(data, heads=heads)
        assert known(reader) == [False]
        reader.close()
    assert not len(heads)


@pytest.mark.parametrize("start", [b"GET /a HTTP/1.0", b"GET http://a.example/a HTTP/1.1"])
def test_the_parser_sees_old_versions_and_other_targets(start: bytes) -> None:
    data = start + b"\r\n" + HOST + b"connection: keep-alive\r\n\r\n"
    assert known(fed(data, data, data, data)) == [False] * 4


@pytest.mark.parametrize(
    "data",
    [GET + GET, GET[:-3], GET + b"\r\n", POST + b"b", POST + b"body!", POST],
)
def test_only_one_whole_request_is_looked_up(data: bytes) -> None:
    heads = KnownHeads()
    for _ in range(3):
        fed(GET, POST + b"body", heads=heads).close()
    for _ in range(3):
        assert read([data], heads) == read([data], KnownHeads())
        assert known(fed(data, heads=heads)) == [False] * len(fed(data).requests)


def test_a_head_is_looked_up_between_messages_alone() -> None:
    heads = KnownHeads()
    for _ in range(3):
        fed(GET, heads=heads).close()
    in_a_body = b"POST / HTTP/1.1\r\n" + HOST + b"content-length: %d\r\n\r\n" % len(GET)
    reader = fed(in_a_body, GET, heads=heads)
    assert [b"".join(request.chunks) for request in reader.requests] == [GET]
    behind_the_last = fed(GET.replace(b"accept: */*", b"connection: close"), GET, heads=heads)
    assert behind_the_last.rejection is not None


def test_the_parser_continues_behind_a_known_head() -> None:
    reader = fed(GET, GET, GET, POST + b"bo", b"dy" + GET[:5], GET[5:], GET)
    assert reader.rejection is None
    assert [request.method for request in reader.requests] == ["GET"] * 3 + ["POST", "GET", "GET"]
    assert reader.requests[3].chunks == [b"bo", b"dy"]
    assert known(reader) == [False, False, True, False, False, True]


@pytest.mark.parametrize(
    "head",
    [
        GET.replace(b"accept", b"cookie"),
        GET.replace(b"accept", b"authorization"),
        GET.replace(b"accept", b"x-api-key"),
        GET.replace(b"accept", b"referer"),
        GET.replace(b"/a", b"/a?token=b"),
    ],
)
def test_a_head_with_a_secret_is_for_its_connection_alone(head: bytes) -> None:
    heads = KnownHeads()
    owner = fed(head, head, head, heads=heads)
    assert known(owner) == [False, False, True]
    other = fed(head, heads=heads)
    assert known(other) == [False]
    owner.feed(head)
    assert owner.requests[-1].known is not None
    owner.close()
    other.close()
    assert not len(heads)


def test_a_request_shares_nothing_that_can_be_changed() -> None:
    reader = fed(GET, GET, GET)
    reader.requests[2].headers.append((b"x", b"y"))
    reader.feed(GET)
    assert reader.requests[3].headers == reader.requests[0].headers


def test_few_heads_are_cached() -> None:
    heads = KnownHeads()
    for number in range(3000):
        for name in (b"accept", b"cookie"):
            head = GET.replace(b"/a", b"/%d" % number).replace(b"accept", name)
            fed(head, head, heads=heads)
    assert len(heads) == 512
    assert len(heads._seen) == 1024
