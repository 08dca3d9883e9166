"""One attack: the bytes of one connection. It can be saved to a file, and loaded from it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Literal, Self

import attrs

Protocol = Literal["http1", "http2", "websocket"]

SESSION = b"{session-of-the-attack}"
"""Stands for the value of a signed-in user's cookie, which differs from run to run."""


@attrs.frozen
class Case:
    """What is sent, in how many pieces, and how the answer is to be read."""

    surface: str
    pieces: tuple[bytes, ...]
    protocol: Protocol = "http1"

    @property
    def proxied(self) -> bool:
        """Whether it goes through the proxy in front of the app."""
        return self.surface == "proxied"

    @property
    def signed_in(self) -> bool:
        """Whether it is sent by a user, who may see what is guarded."""
        return any(SESSION in piece for piece in self.pieces)

    def save(self, path: Path, *, cause: str) -> None:
        """Write a line of JSON, which says what this is, and then the bytes as they are."""
        head = {
            "surface": self.surface,
            "protocol": self.protocol,
            "sizes": [len(piece) for piece in self.pieces],
            "cause": cause,
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(json.dumps(head).encode() + b"\n" + b"".join(self.pieces))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return what `save` has written."""
        line, _, data = path.read_bytes().partition(b"\n")
        head: dict[str, Any] = json.loads(line)
        pieces, start = [], 0
        for size in head["sizes"]:
            pieces.append(data[start : start + size])
            start += size
        return cls(head["surface"], tuple(pieces), head["protocol"])


@attrs.frozen
class Message:
    """A request of HTTP/1.1 that is framed right, whatever it says."""

    target: bytes = b"/"
    method: bytes = b"GET"
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes | None = None
    own: bool = True
    """Whether it shows that it comes from a page of the app itself, where that is asked for."""

    def with_headers(self, *headers: tuple[bytes, bytes]) -> Message:
        """Return the same with more headers."""
        return attrs.evolve(self, headers=(*self.headers, *headers))

    def to_bytes(self) -> bytes:
        """Return it as it is on the wire."""
        lines = [b"%b %b HTTP/1.1" % (self.method, self.target), b"Host: a"]
        if self.own and self.method not in (b"GET", b"HEAD"):
            lines.append(b"Sec-Fetch-Site: same-origin")
        lines += [b"%b: %b" % header for header in self.headers]
        if self.body is not None:
            lines.append(b"Content-Length: %d" % len(self.body))
        return b"\r\n".join([*lines, b"", self.body or b""])


def cut(data: bytes, dice: random.Random) -> tuple[bytes, ...]:
    """Return ``data`` in one piece or, now and then, in two."""
    if dice.random() < 0.8 or len(data) < 2:
        return (data,)
    at = dice.randrange(1, len(data))
    return data[:at], data[at:]


def as_user(dice: random.Random) -> tuple[tuple[bytes, bytes], ...]:
    """Return the cookie of a user's session, now and then."""
    return ((b"Cookie", b"sid=" + SESSION),) if dice.random() < 0.1 else ()
