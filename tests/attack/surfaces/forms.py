"""Forms, urlencoded and multipart, of every charset, with files and without an end."""

from __future__ import annotations

import random

from ..cases import Case, Message, as_user, cut
from ..mutate import GROWTH, LARGE, grow, mutate, repeat
from ..seeds import CHARSETS, HEADERS, KEYS, MEDIA, NUMBERS, TEXTS
from .json_bodies import target

_TOKENS = (
    *TEXTS, *NUMBERS, *KEYS[:-1], b"--x\r\n", b"--x--", b"--x--\r\n", b"\r\n\r\n", b"\r\n", b"\r",
    b'Content-Disposition: form-data; name="a"', b'; filename="a"', b"; filename*=utf-8''%ff",
    b"; filename*=utf-16''a", b'; name="', b"Content-Type: text/plain; charset=utf-7",
    b"Content-Transfer-Encoding: base64", b"Content-Length: 5", b"%zz", b"%", b"%00", b"%ed%a0%80",
    b"&", b"=", b"+", b"[]", b"%5b0%5d",
)  # fmt: skip
_FILLING = (b"%zz", b"%", b"a=b&", b"&", b"=", b"a&", b"%ff", b"+", b"a", b"\xc3\xa9", b";")
_PARTS = (b"--x\r\n", b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n', b"\r\n--x",
          b"\r\n-", b"\n", b"A: b\r\n", b"a", b'"', b";", b"=", b"-", b"\\")  # fmt: skip


def make(dice: random.Random) -> Case:
    """Return a POST of a form."""
    if dice.random() < 0.02:
        return _large(dice)
    kind, body = dice.choice((_urlencoded, _multipart))(dice)
    if dice.random() < 0.05:
        kind = dice.choice(MEDIA)
    if dice.random() < 0.35:
        kind += b"; charset=" + dice.choice(CHARSETS)
    headers = [(b"Content-Type", kind), *as_user(dice)]
    if dice.random() < 0.4:  # as a browser without JavaScript sends it
        headers.append((b"Accept", b"text/html"))
    headers += dice.sample(HEADERS, dice.choice((0, 0, 0, 1)))
    return Case("forms", cut(Message(target(dice), b"POST", tuple(headers), body).to_bytes(), dice))


def _large(dice: random.Random) -> Case:
    """Return as much as the app takes, or a little more: fields, parts, or a file."""
    size = dice.choice(LARGE)
    body = dice.choice(
        (
            repeat(dice.choice(_PARTS), size),
            _part(b"name", repeat(dice.choice(_FILLING), size)),
            _part(b"name", b"\0" * size, b"a.bin"),
            _part(b"name", repeat(b"\r\n--", size), b"a.bin"),
        )
    )
    kind = b"multipart/form-data; boundary=x"
    if dice.random() < 0.4:
        kind, body = b"application/x-www-form-urlencoded", repeat(dice.choice(_FILLING), size)
    where = dice.choice((b"/api/__actions/typed/maybe", b"/api/__actions/upload/send"))
    message = Message(where, b"POST", ((b"Content-Type", kind),), body + b"--x--\r\n")
    return Case("forms", (message.to_bytes(),))


def _value(dice: random.Random) -> bytes:
    return dice.choice((b"Ada", b"1", *TEXTS, *NUMBERS))


def _urlencoded(dice: random.Random) -> tuple[bytes, bytes]:
    pairs = [b"name=Ada", b"message=Hello"]
    pairs += [dice.choice(KEYS) + b"=" + _value(dice) for _ in range(dice.randint(0, 5))]
    body = mutate(b"&".join(pairs), dice, _TOKENS)
    if dice.random() < 0.25:
        body = b"name=" + repeat(dice.choice(_FILLING), dice.choice(GROWTH))
    return b"application/x-www-form-urlencoded", body


def _multipart(dice: random.Random) -> tuple[bytes, bytes]:
    """Return a form whose boundary is ``x``, most times."""
    parts = [_part(b"name", b"Ada"), _part(b"message", b"Hello")]
    for _ in range(dice.randint(0, 4)):
        filename = dice.choice((b"", b"", b"a.txt", b"../../a", *TEXTS[:20]))
        parts.append(_part(dice.choice(KEYS), _value(dice), filename))
    body = b"".join(parts)
    if dice.random() < 0.3:
        filling = repeat(dice.choice(_PARTS), dice.choice(GROWTH))
        body = dice.choice((filling, body + filling, _part(filling, b"a"), _part(b"name", filling)))
    if dice.random() < 0.1:
        body = grow(body, dice)
    body = mutate(body + b"--x--\r\n", dice, _TOKENS)
    return b"multipart/form-data; boundary=" + dice.choice(
        (b"x", b"x", b"x", b'"x"', b"-", b"xx")
    ), body


def _part(name: bytes, value: bytes, filename: bytes = b"") -> bytes:
    head = b'--x\r\nContent-Disposition: form-data; name="%b"' % name
    if filename:
        head += b'; filename="%b"\r\nContent-Type: application/octet-stream' % filename
    return head + b"\r\n\r\n" + value + b"\r\n"
