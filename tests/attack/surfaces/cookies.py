"""Cookies: quoted, broken, endless, and several lines of them."""

from __future__ import annotations

import random

from ...http1.frames import TEXT, upgrade
from ..cases import SESSION, Case, Message
from ..frames import masked
from ..mutate import mutate, repeat
from ..seeds import TEXTS

_TARGETS = (b"/", b"/api/echo", b"/vault", b"/somebody.md", b"/search", b"/api/__auth/session")
_COOKIES = (
    b"a=b", b"a=b; c=d", b'a="b"', b"fx-csrf=a.b", b"sid=a.b", b"sid=" + SESSION, b"a", b"=",
    b"=a", b"a==", b"$Version=1; a=b; $Path=/", b"__Host-sid=a.b", b"a=b, c=d", b'a="\\073"',
    b'a="b\\"c; d=e"', b"sid=" + b"a" * 200 + b"." + b"b" * 64, b"last=searched",
)  # fmt: skip
_TOKENS = (
    *(bytes(text) for text in TEXTS if b"\n" not in text), b'"', b'="', b'\\"', b"\\", b"\\073",
    b"\\377", b"\\400", b";", b"; ", b",", b"=", b"sid=", b"__Host-sid=", b"fx-csrf=", b"\t",
    SESSION,
)  # fmt: skip
_HARMFUL = (b'\\"', b"\\073", b"\\", b'"', b";", b"; ", b"=", b"a=b; ", b'a="b"; ', b"\xff", b"%zz")


def make(dice: random.Random) -> Case:
    """Return a request with cookies, or a WebSocket that was opened with them."""
    lines = [_cookie(dice) for _ in range(dice.choice((1, 1, 1, 2, 5)))]
    headers = tuple((b"Cookie", line) for line in lines)
    if dice.random() < 0.2:
        fields = [b"Cookie: " + line for line in lines]
        message = masked(TEXT, b'{"a": 1}', dice)
        return Case("cookies", (upgrade(b"/rooms/cookies", *fields), message), "websocket")
    return Case("cookies", (Message(dice.choice(_TARGETS), b"GET", headers).to_bytes(),))


def _cookie(dice: random.Random) -> bytes:
    cookie = b"; ".join(dice.sample(_COOKIES, dice.randint(1, 4)))
    if dice.random() < 0.3:  # as long as a head may be, and nothing but what has to be unquoted
        size = dice.choice((1000, 8000, 30_000))
        cookie = b'a="' + repeat(dice.choice(_HARMFUL), size) + dice.choice((b'"', b""))
    cookie = mutate(cookie, dice, _TOKENS)[:31_000]
    return bytes(byte for byte in cookie if byte not in b"\r\n\0")
