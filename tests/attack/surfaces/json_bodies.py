"""JSON: wrong types, deep and long values, and text that is none."""

from __future__ import annotations

import json
import random
from typing import Any

from ..cases import Case, Message, as_user, cut
from ..mutate import GROWTH, LARGE, mutate, repeat
from ..seeds import ACTIONS, CHARSETS, ENDPOINTS, GUARDED_ACTIONS, KEYS, MEDIA, NUMBERS, TEXTS

_GOOD: tuple[dict[str, Any], ...] = (
    {"name": "Ada", "message": "Hello"},
    {"email": "ada@example.org", "password": "a password"},
    {
        "name": "Ada", "when": "2026-01-01T00:00:00Z", "kind": "b", "tags": ["a"], "numbers": [1],
        "lines": [{"article": "x", "price": "1.5", "ratio": 0.5, "count": 2}],
        "by_name": {"x": {"article": "x", "price": 1}}, "price": 1.5, "ratio": 2,
    },
    {
        "name": "Ada", "day": "2026-01-01", "legs": [{"to": "x", "km": 1.5, "cost": "3"}],
        "numbers": [1, 2], "km": 1.5, "cost": 1, "express": True,
    },
    {
        "name": "Ada", "age": 36, "height": 1.7, "wealth": "12.50", "born": "1815-12-10T00:00:00",
        "addresses": [{"street": "x", "number": 5}], "numbers": [1],
    },
)  # fmt: skip
_VALUES = (
    *(b'"' + text + b'"' for text in TEXTS), *NUMBERS, b"[]", b"{}", b"[[]]", b'[{"a":1}]', b'""',
    b"[null]", b"false", b'{"article":1}', b'"2026-13-45"', b'"0000-00-00T99:99:99Z"', b'"NaN"',
    b'"1e400"', b'"Infinity"', b'{"":{"":{}}}', b'"9999-12-31T23:59:59-23:59"',
)  # fmt: skip
_TOKENS = (
    *_VALUES, *(b'"' + key + b'":' for key in KEYS), b"[", b"]", b"{", b"}", b",", b":", b'"',
    b"\\", b"\xef\xbb\xbf", b"/*", b"'", b"\x1e",
)  # fmt: skip
_DEEP = ((b"[", b"]"), (b'{"a":', b"}"), (b'[{"name":', b"}]"))
_LONG = (b"[],", b'"",', b"0,", b"1e400,", b'"\\ud800",', b"{},", b'{"a":1},', b"null,", b'"a",')
_TYPES = (b"application/json", b"application/json", b"application/json", b"text/json", b"")


def make(dice: random.Random) -> Case:
    """Return a POST of JSON, or of what claims to be some."""
    if dice.random() < 0.02:
        return _large(dice)
    body = dice.choice((_sound, _sound, _deep, _long, _many_keys))(dice)
    body = mutate(body, dice, _TOKENS)
    kind = dice.choice(_TYPES if dice.random() < 0.8 else MEDIA)
    if dice.random() < 0.15:
        kind += b"; charset=" + dice.choice(CHARSETS)
    headers = ((b"Content-Type", kind), *as_user(dice))
    return Case("json", cut(Message(target(dice), b"POST", headers, body).to_bytes(), dice))


def _large(dice: random.Random) -> Case:
    """Return as much as the app takes, or a little more."""
    key = dice.choice((b"numbers", b"tags", b"lines", b"by_name"))
    items = repeat(dice.choice((*_LONG, b'"\\u00e4",', b"1.5,", b"[[")), dice.choice(LARGE))
    body = b'{"name": "Ada", "%b": [%b0]}' % (key, items)
    headers = ((b"Content-Type", b"application/json"),)
    where = dice.choice((b"/api/__actions/typed/maybe", b"/api/__auth/login"))
    return Case("json", (Message(where, b"POST", headers, body).to_bytes(),))


def target(dice: random.Random) -> bytes:
    """Return the path of an action, or of an endpoint."""
    chance = dice.random()
    if chance < 0.7:
        return b"/api/__actions/" + dice.choice(ACTIONS)
    return b"/api/__actions/" + dice.choice(GUARDED_ACTIONS) if chance < 0.8 else _endpoint(dice)


def _endpoint(dice: random.Random) -> bytes:
    return dice.choice((*ENDPOINTS, b"/api/echo", b"/api/echo"))


def _sound(dice: random.Random) -> bytes:
    """Return an object with the keys of the models, of which some values are wrong."""
    values = dict(dice.choice(_GOOD))
    marked = {}
    for key in dice.sample(sorted(values), dice.choice((0, 1, 1, 2))):
        values[key] = f"@{key}@"
        marked[f'"@{key}@"'.encode()] = dice.choice(_VALUES)
    body = json.dumps(values).encode()
    for mark, value in marked.items():
        body = body.replace(mark, value)
    return body


def _deep(dice: random.Random) -> bytes:
    begin, end = dice.choice(_DEEP)
    depth = dice.choice(GROWTH)
    return begin * depth + b"1" + (end * depth if dice.random() < 0.7 else b"")


def _long(dice: random.Random) -> bytes:
    """Return an object in which one list has nothing but wrong members."""
    key = dice.choice((b"numbers", b"tags", b"lines", b"legs", b"addresses", b"name"))
    items = repeat(dice.choice(_LONG), dice.choice(GROWTH))[:-1]
    return b'{"name": "Ada", "%b": [%b]}' % (key, items)


def _many_keys(dice: random.Random) -> bytes:
    keys = b",".join(b'"%d": 1' % number for number in range(dice.choice((10, 1000, 50_000))))
    return b"{%b}" % keys if dice.random() < 0.5 else b'{"name": "a", "by_name": {%b}}' % keys
