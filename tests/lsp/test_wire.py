from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.lsp.wire import FrameInvalid, Malformed, MessageReader, encode

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
MESSAGES = st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=5)


@given(MESSAGES, st.lists(st.integers(1, 40), min_size=1))
def test_messages_come_out_as_they_went_in_however_their_bytes_are_cut(
    messages: list[dict[str, object]], sizes: list[int]
) -> None:
    data = b"".join(map(encode, messages))
    reader = MessageReader()
    found = []
    for size in sizes:
        piece, data = data[:size], data[size:]
        found += reader.feed(piece)
    found += reader.feed(data)

    assert found == messages


def test_a_body_that_is_no_object_is_told_and_the_next_message_read() -> None:
    bodies = [b"{", b"[]", b"[" * 100_000, b"\xff", b'{"a":1}']
    data = b"".join(
        b"content-length: %d\r\nContent-Type: x\r\n\r\n%b" % (len(b), b) for b in bodies
    )

    *broken, last = MessageReader().feed(data)

    assert [type(one) for one in broken] == [Malformed] * 4
    assert last == {"a": 1}


def test_half_a_surrogate_pair_is_sent() -> None:
    (message,) = MessageReader().feed(encode({"text": "\ud83d"}))

    assert isinstance(message, dict | Malformed)
    assert json.loads(json.dumps({"a": "\ud83d"})) == {"a": "\ud83d"}


@pytest.mark.parametrize(
    "data",
    [
        b"hello\r\n\r\n",
        b"x" * 5000,
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 999999999999\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    ],
)
def test_what_is_no_message_ends_the_reading(data: bytes) -> None:
    with pytest.raises(FrameInvalid):
        MessageReader().feed(data)
