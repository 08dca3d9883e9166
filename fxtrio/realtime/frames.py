"""Published messages in, WebSocket frames out: each message is encoded once.

A `Frame` is shared by all subscribers of a channel, in every process. Any ASGI
server takes it as an event; a server of ours takes its bytes as they go on the wire,
many frames in one write (`fxtrio.asgi_extensions.RAW_FRAMES`).
"""

from __future__ import annotations

import inspect
from math import inf
from typing import Any

import msgspec

from fxtrio.encode import NotSerializable, encode, valid_text
from fxtrio.errors import MessageNotEncodable, MessageTooLarge
from fxtrio.realtime.presence import Missed

Message = dict[str, Any] | list[Any] | str | bytes
"""Types of messages: a dict or list is sent as JSON, a str as text, bytes as binary."""

Ident = tuple[int, int]
"""The place of a message in the log of its channel; later ones are greater."""

_TEXT, _BINARY = 0x81, 0x82
"""First byte of an unfragmented frame (RFC 6455, section 5.2)."""


class Frame:
    """One encoded message, in memory once: in the format that was requested last."""

    __slots__ = (
        "_event",
        "_payload",
        "_wire",
        "binary",
        "holders",
        "ident",
        "json",
        "published_at",
        "size",
    )

    def __init__(self, payload: bytes, *, binary: bool, json: bool = False) -> None:
        self.size = len(payload)
        """The bytes of the message (count)."""

        self.holders = 0
        """Outboxes that it waits in: it counts once for all of them."""

        self.binary = binary

        self.json = json
        """Whether it was published as a dict or a list."""

        self.ident: Ident | None = None
        """Its place in the log of its channel, if it has one."""

        self._payload: bytes | None = payload
        self.published_at = -inf
        """When it was delivered to its first subscriber, on trio's clock."""
        self._event: dict[str, Any] | None = None
        self._wire: bytes | None = None

    def __repr__(self) -> str:
        kind = "binary" if self.binary else "text"
        return f"<Frame {kind} {self.payload[:40]!r} ({self.size} bytes)>"

    @property
    def payload(self) -> bytes:
        """The bytes of the message; UTF-8 unless ``binary``."""
        if self._payload is not None:
            return self._payload
        assert self._wire is not None
        return self._wire[len(self._wire) - self.size :]

    @property
    def data(self) -> Any:
        """The message as it was published: a dict or list, text, or bytes."""
        if self.json:
            return msgspec.json.decode(self.payload)
        return self.payload if self.binary else self.payload.decode()

    @property
    def event(self) -> dict[str, Any]:
        """The ASGI event that sends the message. Shared: it must not be changed."""
        if self._event is None:
            if self.binary:
                self._event = {"type": "websocket.send", "bytes": self.payload}
            else:
                self._event = {"type": "websocket.send", "text": self.payload.decode()}
        return self._event

    @property
    def wire(self) -> bytes:
        """The message as one unmasked frame (RFC 6455, section 5.2)."""
        if self._wire is None:
            self._wire = _header(self.size, binary=self.binary) + self.payload
            self._payload = None
        return self._wire


class MissedFrame(Frame):
    """Notifies a client that messages were lost, if it wants that (docs/reference/client.md)."""

    __slots__ = ("missed",)

    missed: Missed

    def __init__(self, missed: Missed, at: float) -> None:
        super().__init__(encode({"$missed": {"count": missed.count}}, place="missed"), binary=False)
        self.missed = missed
        self.published_at = at


def bounded(name: str, message: Message, limit: int) -> Frame:
    """Return the frame of a message to a channel.

    Raises MessageTooLarge above ``limit`` bytes, and what `encode_message` does.
    """
    frame = encode_message(message)
    if frame.size > limit:
        raise MessageTooLarge(name, frame.size, limit)
    return frame


def encode_message(message: Message | Frame) -> Frame:
    """Return the frame of a message; a frame is returned as it is.

    Raises MessageNotEncodable for other types, and for what JSON cannot hold.
    """
    if isinstance(message, Frame):
        return message
    if isinstance(message, str):
        try:
            return Frame(message.encode(), binary=False)
        except UnicodeEncodeError:
            return Frame(valid_text(message, place="publish()").encode(), binary=False)
    if isinstance(message, bytes):
        return Frame(message, binary=True)
    if isinstance(message, (bytearray, memoryview)):
        return Frame(bytes(message), binary=True)
    if isinstance(message, (dict, list)):
        return Frame(_encode_json(message), binary=False, json=True)
    raise MessageNotEncodable(message, f"its type is {type(message).__name__}")


def _header(size: int, *, binary: bool) -> bytes:
    first = _BINARY if binary else _TEXT
    if size < 126:
        return bytes((first, size))
    if size < 1 << 16:
        return bytes((first, 126)) + size.to_bytes(2, "big")
    return bytes((first, 127)) + size.to_bytes(8, "big")


def _encode_json(message: dict[str, Any] | list[Any]) -> bytes:
    try:
        return encode(message, place="publish()")
    except NotSerializable as error:
        where = f"the value at {error.path!r}" if error.path else "it"
        name = type(error.value).__name__
        cause = f"{where} is not JSON-serializable: {error.value!r:.80} ({name})"
        if inspect.iscoroutine(error.value):
            cause = f"{where} is the coroutine {error.value.__qualname__}(), without 'await'"
        raise MessageNotEncodable(message, cause) from None  # which has said all of it
