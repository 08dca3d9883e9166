"""HTTP/2: frames out of place, header lists that unpack to more than they are, odd requests."""

from __future__ import annotations

import random
import struct

from hpack import Encoder

from ...http2.client import (
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PING,
    PREFACE,
    PRIORITY,
    RESET,
    SETTINGS,
    WINDOW,
    Header,
    ask,
    frame,
    head,
)
from ...http2.floods import BAD_REQUESTS, ODD_REQUESTS
from ..cases import Case
from ..mutate import mutate
from ..seeds import ACTIONS, ENDPOINTS, GUARDED_PAGES, PAGES
from ..seeds import HEADERS as FIELDS
from .websocket import make_message

_OPENING = (
    PREFACE
    + frame(SETTINGS, 0, 0, struct.pack("!HI", 4, 2**31 - 1))
    + frame(WINDOW, 0, 0, struct.pack("!I", 2**30))
)
_STRANGE = (*BAD_REQUESTS.values(), *(headers for headers, _ in ODD_REQUESTS.values()))
_TOKENS = (
    b"\xff" * 9, b"\0" * 9, b"\xbe" * 100, b"\x20", b"\x3f\xe1\xff\x03", b"\x82\x86\x84",
    struct.pack("!I", 2**31), PREFACE, frame(PING, 0, 0, bytes(8)), frame(SETTINGS, 0, 0),
    frame(SETTINGS, 1, 0), frame(RESET, 0, 1, bytes(4)), frame(WINDOW, 0, 0, struct.pack("!I", 0)),
    frame(CONTINUATION, END_HEADERS, 1, b"\x82"), frame(DATA, END_STREAM, 1, b"x"),
    frame(99, 255, 7, b"?"), frame(5, 4, 1, bytes(5)),
    frame(SETTINGS, 0, 0, struct.pack("!HI", 1, 0)),
)  # fmt: skip


def make(dice: random.Random) -> Case:
    """Return a connection with a few requests and what does not belong there."""
    data = b""
    for number in range(1, 2 * dice.randint(1, 6), 2):
        data += dice.choice((_request, _request, _strange, _post, _bomb, _control, _socket))(
            number, dice
        )
    if dice.random() < 0.7:
        data = mutate(data, dice, _TOKENS)
    return Case("http2", (_OPENING, data), "http2")


def _request(stream: int, dice: random.Random) -> bytes:
    path = dice.choice(PAGES + GUARDED_PAGES + ENDPOINTS).decode()
    method = dice.choice(("GET", "GET", "HEAD", "OPTIONS", "PUT"))
    return head(ask(path, method, *_fields(dice)), stream)


def _fields(dice: random.Random) -> list[Header]:
    """Return header fields, with those that HTTP/2 does not know among them."""
    chosen = dice.sample(FIELDS, dice.randint(0, 4))
    fields = [(name.decode().lower(), value.decode("latin-1")) for name, value in chosen]
    if dice.random() < 0.2:
        fields += [("cookie", f"a{number}=b") for number in range(dice.choice((2, 50)))]
    return fields


def _strange(stream: int, dice: random.Random) -> bytes:
    return head(list(dice.choice(_STRANGE)), stream)


def _post(stream: int, dice: random.Random) -> bytes:
    path = f"/api/__actions/{dice.choice(ACTIONS).decode()}"
    fields = [("sec-fetch-site", "same-origin"), ("content-type", "application/json")]
    if dice.random() < 0.2:
        fields.append(("content-length", dice.choice(("0", "5", "99999999999", "-1", "x"))))
    body = dice.choice((b'{"name": "Ada", "message": "2"}', b"[" * 16_000, b"", b"\xff" * 100))
    begin = head(ask(path, "POST", *fields), stream, end=False)
    data = frame(DATA, END_STREAM, stream, body)
    return begin + dice.choice((data, data, b"", frame(DATA, 0, stream) * 50 + data, data + data))


def _bomb(stream: int, dice: random.Random) -> bytes:
    """Return a few bytes that are a large list: references to one entry of the table."""
    block = Encoder().encode([*ask(), ("x-large", "*" * dice.choice((100, 1000, 3900)))])
    block += b"\xbe" * dice.choice((10, 1000, 12_000))
    if dice.random() < 0.5:
        return frame(HEADERS, END_HEADERS | END_STREAM, stream, block)
    begin = frame(HEADERS, END_STREAM, stream, block[:100])
    return begin + frame(CONTINUATION, END_HEADERS, stream, block[100:])


def _socket(stream: int, dice: random.Random) -> bytes:
    """Return a WebSocket within a stream, and frames of its own in pieces of any size."""
    path = dice.choice((b"/rooms/a", b"/docs/x", b"/typed", *GUARDED_PAGES)).decode()
    opening = [(":method", "CONNECT"), (":protocol", "websocket"), *ask(path)[1:]]
    data = b"".join(make_message(dice)[:20_000] for _ in range(dice.randint(1, 4)))
    size = dice.choice((1, 100, 16_000)) if len(data) < 500 else 16_000
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    frames = [frame(DATA, 0, stream, piece) for piece in pieces]
    begin = head([*opening, ("sec-websocket-version", "13")], stream, end=False)
    return begin + b"".join(frames) + dice.choice((b"", frame(DATA, END_STREAM, stream)))


def _control(stream: int, dice: random.Random) -> bytes:
    number = struct.pack("!I", dice.choice((0, 1, 2**31 - 1, 2**32 - 1)))
    setting = struct.pack("!HI", dice.randint(0, 9), dice.choice((0, 1, 100, 2**31, 2**32 - 1)))
    one = dice.choice(
        (
            frame(SETTINGS, 0, 0, setting),
            frame(PRIORITY, 0, stream, number + b"\0"),
            frame(RESET, 0, stream, number),
            frame(WINDOW, 0, dice.choice((0, stream)), number),
            frame(PING, dice.choice((0, 1)), 0, bytes(8)),
            frame(GOAWAY, 0, 0, bytes(8)),
            frame(CONTINUATION, 0, stream, b"\x82"),
            frame(dice.randrange(256), dice.randrange(256), dice.choice((0, stream)), bytes(8)),
        )
    )
    return one * dice.choice((1, 1, 3, 200))
