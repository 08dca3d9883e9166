"""Messages of the Language Server Protocol as bytes: a header, then JSON. No I/O.

Source: "Base Protocol" of the LSP specification, 3.17. `rpc` reads and writes with it.
"""

from __future__ import annotations

import json
import re
from typing import Any

import attrs

from fxtrio.errors import FxtrioError

LARGEST_MESSAGE = 64 * 1024 * 1024
"""Bytes of one message; an editor sends whole files."""

_LARGEST_HEADER = 4096  # bytes; there are two fields at most
_LENGTH = re.compile(rb"(?im)^content-length:[ \t]*(\d{1,12})[ \t]*\r?$")

Message = dict[str, Any]


class FrameInvalid(FxtrioError):
    """Bytes that are no message of the protocol: where the next one begins is not known."""

    def __init__(self, cause: str) -> None:
        super().__init__(f"language server: {cause}. Start 'fx lsp' from an editor.")


@attrs.frozen
class Malformed:
    """A whole message that is not a JSON object, or not JSON at all."""

    cause: str


@attrs.define
class MessageReader:
    """Bytes of a stream in, messages out."""

    limit: int = LARGEST_MESSAGE
    _unread: bytearray = attrs.field(init=False, factory=bytearray)
    _body: int | None = attrs.field(init=False, default=None)  # bytes, once its header is read

    def feed(self, data: bytes | bytearray) -> list[Message | Malformed]:
        """Return the messages that ``data`` completes, oldest first.

        Raises FrameInvalid for a header without a length, and for a length above ``limit``.
        """
        self._unread += data
        messages: list[Message | Malformed] = []
        while True:
            if self._body is None:
                self._body = self._read_header()
            if self._body is None or len(self._unread) < self._body:
                return messages
            messages.append(_decoded(bytes(self._unread[: self._body])))
            del self._unread[: self._body]
            self._body = None

    def _read_header(self) -> int | None:
        end = self._unread.find(b"\r\n\r\n")
        if end < 0:
            if len(self._unread) > _LARGEST_HEADER:
                raise FrameInvalid("its input is no message")
            return None
        found = _LENGTH.search(self._unread, 0, end + 2)
        if found is None:
            raise FrameInvalid("a message has no Content-Length")
        length = int(found[1])
        if length > self.limit:
            raise FrameInvalid(f"a message has {length} bytes, above {self.limit}")
        del self._unread[: end + 4]
        return length


def _decoded(body: bytes) -> Message | Malformed:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        return Malformed(f"it is not JSON: {error}")
    if not isinstance(message, dict):
        return Malformed("it is no JSON object")
    return message


def encode(message: Message) -> bytes:
    """Return a message as bytes."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    # Half of a surrogate pair may stand in a file that is being typed.
    data = body.encode("utf-8", "surrogatepass")
    return b"Content-Length: %d\r\n\r\n%b" % (len(data), data)
