"""JSON bodies: bytes in, plain values out, within bounds on how many and how deep."""

from __future__ import annotations

import json
from itertools import accumulate
from typing import Any

import msgspec

from fxtrio.errors import BadBody

MOST_MEMBERS = 100_000
"""Items of lists and members of objects, all together (count)."""

DEEPEST = 100
"""Lists and objects inside each other (count)."""

_STEPS = {**dict.fromkeys(b"[{", 1), **dict.fromkeys(b"]}", -1)}
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class BadJson(BadBody, json.JSONDecodeError):
    """A body that is no JSON, or too much of it. Code that knows Python's own error catches it."""

    def __init__(self, message: str) -> None:
        json.JSONDecodeError.__init__(self, message, "", 0)
        self.message, self.status_code, self.data, self.fields = message, 400, {}, {}

    def __str__(self) -> str:
        return self.message


def parse_json(body: bytes) -> Any:
    """Return the value of a JSON body. Raises BadJson.

    All text in it is valid Unicode, and all numbers are finite.
    """
    if not body.strip():
        raise BadJson("The body is empty; JSON was expected.")
    if len(body) > DEEPEST:
        _check_bounds(body)
    try:
        return msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise BadJson(f"The body is not valid JSON: {error}") from error


def _check_bounds(body: bytes) -> None:
    """Raise BadJson for a body with too many values, before it is parsed.

    A value takes 64 bytes and more, so 10 MB of ``[],[],…`` would be 300.
    """
    opened = body.count(b"[") + body.count(b"{")
    many = opened + body.count(b",") > MOST_MEMBERS
    if not many and opened <= DEEPEST:
        return
    outside = _outside_strings(body) if b'"' in body else body
    if outside.count(b",") + outside.count(b"[") + outside.count(b"{") > MOST_MEMBERS:
        raise BadJson(f"The body has more than {MOST_MEMBERS} values.")
    brackets = outside.translate(None, _NOT_BRACKETS)
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > DEEPEST:
        raise BadJson(f"The body has more than {DEEPEST} lists and objects inside each other.")


def _outside_strings(body: bytes) -> bytes:
    """Return JSON without its strings. Raises BadJson when it has too many."""
    if b"\\" in body:
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    if body.count(b'"') > 4 * MOST_MEMBERS:  # a member has two strings at most
        raise BadJson(f"The body has more than {MOST_MEMBERS} values.")
    return b"".join(body.split(b'"')[::2])
