"""WebSocket: text that is none, fragments, and JSON for rooms that are open to everybody."""

from __future__ import annotations

import random
import zlib

from ...http1.frames import upgrade
from ..cases import SESSION, Case
from ..frames import BINARY, CLOSE, CONT, PING, PONG, TEXT, masked
from ..mutate import GROWTH, mutate, repeat
from ..seeds import GUARDED_PAGES, NUMBERS, TEXTS

_OPEN = (
    b"/rooms/a", b"/rooms/a?name=%ff", b"/rooms/%2f", b"/docs/x", b"/typed", b"/rooms/%00processes",
    b"/rooms/%0d%0aX-Forged:%201", b"/rooms/%1b]0;forged%07", b"/rooms/%c2%9b31m", b"/api/feed",
)  # fmt: skip
_TEXTS = (
    *TEXTS, *NUMBERS, b"hello", b'{"a": 1}', b'"\\ud800"', b'"a\\udc00b"',
    b'["\\ud800"]', b'{"\\ud800": 1}', b'{"type": "\\udfff"}',
    b"[" * 3000, b'{"a":' * 3000, b"[1e400]",
    b'{"__proto__": {}}', b"9" * 5000,
)  # fmt: skip
_TOKENS = (*_TEXTS, b"\x81\x00", b"\x88\x00", b"\x89\x7d", b"\xff" * 14, b"\x81\xfe\xff\xff",
           b"\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff", b"\xc1\x80")  # fmt: skip
_FIELDS = (
    b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=9",
    b"Sec-WebSocket-Extensions: " + b"permessage-deflate," * 300,
    b"Sec-WebSocket-Protocol: " + b"a, " * 500,
    b"Sec-WebSocket-Protocol: \xff",
    b"Sec-WebSocket-Key: again",
    b"Origin: http://evil",
    b"Origin: http://a",
    b"Cookie: sid=" + SESSION,
    b'Cookie: a="' + b'\\"' * 4000,
    b"Content-Length: 5",
)


def make(dice: random.Random) -> Case:
    """Return a handshake and frames behind it, which may not even be frames."""
    path = dice.choice(_OPEN if dice.random() < 0.85 else GUARDED_PAGES)
    head = upgrade(path, *dice.sample(_FIELDS, dice.choice((0, 0, 0, 1, 2))))
    if dice.random() < 0.1:
        head = mutate(head, dice, _TOKENS)
    frames = b"".join(make_message(dice) for _ in range(dice.randint(1, 6)))
    if dice.random() < 0.25:
        frames = mutate(frames, dice, _TOKENS)
    if dice.random() < 0.2:  # otherwise it stays for a while, and so does its handler
        frames += masked(CLOSE, b"\x03\xe8", dice)
    return Case("websocket", (head, frames), "websocket")


def make_message(dice: random.Random) -> bytes:
    """Return one message, or what might be taken for one."""
    text = mutate(dice.choice(_TEXTS), dice, _TOKENS)
    if dice.random() < 0.2:
        text = repeat(
            dice.choice((b"a", b"[", b'{"a":', b"1,", b"\xc3\xa9", b'"')), dice.choice(GROWTH)
        )
    chance = dice.random()
    if chance < 0.5:
        return masked(TEXT, text, dice)
    if chance < 0.6:
        return masked(BINARY, text, dice)
    if chance < 0.8:
        return _fragments(text, dice)
    if chance < 0.9:
        return masked(
            dice.choice((CLOSE, PING, PONG, CONT, 3, 15)),
            text[: dice.choice((0, 1, 125, 126))],
            dice,
        )
    packed = zlib.compressobj(wbits=-9)
    data = packed.compress(text) + packed.flush(zlib.Z_SYNC_FLUSH)
    return masked(TEXT, data[:-4], dice, rsv=4)


def _fragments(text: bytes, dice: random.Random) -> bytes:
    """Return one message in several frames, cut anywhere, with a ping in between."""
    size = max(1, len(text) // dice.choice((1, 2, 5, 50)))
    pieces = [text[start : start + size] for start in range(0, len(text), size)] or [b""]
    frames = b""
    for number, piece in enumerate(pieces):
        last = number == len(pieces) - 1
        frames += masked(CONT if number else TEXT, piece, dice, fin=last)
        if not last and dice.random() < 0.3:
            frames += masked(PING, b"?", dice)
    return frames
