"""Ways past the rules of a proxy in front: offers of HTTP/2, and paths that it reads otherwise."""

from __future__ import annotations

import random
import struct

from ...http2.client import PREFACE, SETTINGS, ask, frame, head
from ..cases import Case, Message
from ..mutate import mutate

_OFFERS = (
    b"h2c",
    b"H2C",
    b"h2c, websocket",
    b"websocket, h2c",
    b"websocket",
    b"h2c\t",
    b"HTTP/2.0",
)
_CONNECTIONS = (
    b"Upgrade, HTTP2-Settings",
    b"Upgrade",
    b"HTTP2-Settings, Upgrade, close",
    b"upgrade",
)
_OPEN = (b"/", b"/about", b"/api/echo", b"/typed", b"/rooms/x")
_DENIED = (
    b"/denied", b"/denied.md", b"/denied/", b"//denied", b"/./denied", b"/about/../denied",
    b"/%64enied", b"/denied%2f", b"/denied;a", b"/denied%00", b"/denied?a=b", b"/DENIED",
    b"/about/..%2fdenied",
    b"/denied%20", b"/denied%3f", b"/%2e/denied", b"/about%2f..%2fdenied", b"http://a/denied",
)  # fmt: skip
_TOKENS = (
    *_OFFERS,
    *_CONNECTIONS,
    *_DENIED,
    PREFACE,
    b"\r\n",
    b"\r\n\r\n",
    b"GET /denied HTTP/1.1\r\n",
)


def make(dice: random.Random) -> Case:
    """Return requests to the proxy, which denies ``/denied``."""
    data = dice.choice((_upgraded, _upgraded, _spelt, _smuggled))(dice)
    if dice.random() < 0.3:
        data = mutate(data, dice, _TOKENS)
    return Case("proxied", (data,))


def _upgraded(dice: random.Random) -> bytes:
    """Return an offer of another protocol, and a request in HTTP/2 behind it."""
    headers = (
        (b"Upgrade", dice.choice(_OFFERS)),
        (b"Connection", dice.choice(_CONNECTIONS)),
        (b"HTTP2-Settings", b"AAMAAABkAAQAAP__"),
        (b"X-Forwarded-For", b"6.6.6.6"),
    )
    offer = Message(dice.choice(_OPEN), headers=headers).to_bytes()
    settings = frame(SETTINGS, 0, 0, struct.pack("!HI", 4, 2**31 - 1))
    return offer + PREFACE + settings + head(ask("/denied"), 3)


def _spelt(dice: random.Random) -> bytes:
    headers = (((b"Accept", b"text/markdown"),), ((b"x-fx-navigation", b"1"),), ())
    return Message(dice.choice(_DENIED), headers=dice.choice(headers)).to_bytes()


def _smuggled(dice: random.Random) -> bytes:
    """Return a request with another one in its body, which is as long as two fields say."""
    inner = Message(b"/denied").to_bytes()
    lengths = dice.choice(
        (
            b"Content-Length: %d\r\nTransfer-Encoding: chunked" % len(inner),
            b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
            b"Transfer-Encoding: \x0bchunked\r\nContent-Length: %d" % len(inner),
            b"Content-Length: 0\r\nContent-Length: %d" % len(inner),
            b"Content-Length: +%d" % len(inner),
        )
    )
    return b"POST /api/echo HTTP/1.1\r\nHost: a\r\n%b\r\n\r\n0\r\n\r\n%b" % (lengths, inner)
