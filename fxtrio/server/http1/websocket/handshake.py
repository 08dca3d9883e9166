"""The opening of a WebSocket (RFC 6455, section 4), without I/O.

`read_offer` judges the client's request; `Offer.accept` makes the answer that the
application's ``websocket.accept`` calls for.
"""

from __future__ import annotations

import base64
import binascii
import logging
import zlib
from collections.abc import Sequence

import attrs
from websockets.datastructures import Headers
from websockets.exceptions import InvalidHeader, InvalidHeaderFormat, ProtocolError
from websockets.extensions import Extension
from websockets.extensions.permessage_deflate import (
    PerMessageDeflate,
    ServerPerMessageDeflateFactory,
)
from websockets.frames import Frame
from websockets.headers import parse_subprotocol
from websockets.protocol import OPEN
from websockets.server import ServerProtocol
from websockets.typing import ExtensionParameter
from websockets.utils import accept_key

from fxtrio.server.http1.limits import ServerLimits
from fxtrio.server.http1.request import RejectedRequest, Request
from fxtrio.server.http1.response import BadResponse, Message, checked_name

_ours = frozenset(
    b"connection upgrade content-length transfer-encoding sec-websocket-accept "
    b"sec-websocket-extensions sec-websocket-protocol".split()
)
_QUOTED_IN_LOG = 200  # characters of a bad header that go into the log
# websockets reports every connection on its logger; our refusals are in our own log.
_silent = logging.Logger("fxtrio.websockets", logging.CRITICAL + 1)


@attrs.frozen
class Offer:
    """A valid request for a WebSocket."""

    key: str
    subprotocols: list[str]
    protocol: ServerProtocol
    """Open, with the extensions that were agreed on."""

    extensions: str | None
    """The answer's ``Sec-WebSocket-Extensions``."""

    def accept(self, message: Message, common: bytes) -> bytes:
        """Return the answer that opens the WebSocket.

        Raises BadResponse for a subprotocol that the client did not offer, and for
        headers that are not the application's to set.
        """
        lines = [
            b"HTTP/1.1 101 Switching Protocols\r\n",
            b"upgrade: websocket\r\n",
            b"connection: Upgrade\r\n",
            b"sec-websocket-accept: %b\r\n" % accept_key(self.key).encode(),
        ]
        subprotocol = message.get("subprotocol")
        if subprotocol is not None:
            if subprotocol not in self.subprotocols:
                raise BadResponse(
                    f"subprotocol {subprotocol!r} is not one of {self.subprotocols!r}."
                )
            lines.append(b"sec-websocket-protocol: %b\r\n" % subprotocol.encode())
        if self.extensions is not None:
            lines.append(b"sec-websocket-extensions: %b\r\n" % self.extensions.encode())
        for name, value in message.get("headers") or ():
            name = checked_name(name)
            if name in _ours:
                raise BadResponse(f"{name!r} is not for websocket.accept to set.")
            lines.append(b"%b: %b\r\n" % (name, value))
        head = b"".join(lines)
        if head.count(b"\n") != len(lines) or head.count(b"\r") != len(lines) or 0 in head:
            raise BadResponse("a header of websocket.accept has control characters.")
        return b"%b%b\r\n" % (head, common)


def wants_websocket(request: Request) -> bool:
    """Return whether a request that offers an upgrade offers this one."""
    return request.method == "GET" and b"websocket" in (
        token.strip() for token in request.upgrade.split(b",")
    )


def read_offer(request: Request, limits: ServerLimits) -> Offer | RejectedRequest:
    """Return what the client offers, or why it cannot be taken."""
    fields: dict[bytes, list[str]] = {}
    for name, value in request.headers:
        if name.startswith(b"sec-websocket-"):
            fields.setdefault(name, []).append(value.decode("latin-1"))
    if request.has_body:
        return RejectedRequest(400, "a WebSocket request has a body")
    if fields.get(b"sec-websocket-version") != ["13"]:
        return RejectedRequest(426, "the WebSocket version is not 13")
    keys = fields.get(b"sec-websocket-key", ())
    if len(keys) != 1 or not _is_key(keys[0]):
        return RejectedRequest(400, "the WebSocket key is not valid")
    factories = [DeflateFactory()] if limits.websocket_compression else None
    protocol = ServerProtocol(
        state=OPEN, extensions=factories, max_size=limits.websocket_message, logger=_silent
    )
    extensions = None
    try:
        offered = fields.get(b"sec-websocket-protocol", ())
        subprotocols = [str(name) for value in offered for name in parse_subprotocol(value)]
        wanted = fields.get(b"sec-websocket-extensions")
        if factories and wanted:
            headers = Headers([("sec-websocket-extensions", value) for value in wanted])
            extensions, protocol.extensions = protocol.process_extensions(headers)
    except (InvalidHeader, InvalidHeaderFormat) as error:
        return RejectedRequest(400, str(error)[:_QUOTED_IN_LOG])
    return Offer(keys[0], subprotocols, protocol, extensions)


def _is_key(key: str) -> bool:
    try:
        return len(base64.b64decode(key.encode("latin-1"), validate=True)) == 16
    except binascii.Error:
        return False


_EMPTY_BLOCK = b"\x00\x00\x00\xff\xff"
"""What may follow a final block; its last four bytes are added by the receiver."""


class Deflate(PerMessageDeflate):
    """Compression in both directions of one WebSocket (RFC 7692). Created by `DeflateFactory`.

    A sender may end its stream with every message ("BFINAL", 7.2.3.4). The library goes on with
    a decoder that has come to its end: it would take all that follows for nothing, and keep it.
    """

    def decode(self, frame: Frame, *, max_size: int | None = None) -> Frame:
        """Return ``frame`` inflated. Raises ProtocolError and PayloadTooBig."""
        inflated = super().decode(frame, max_size=max_size)
        decoder = getattr(self, "decoder", None)  # None between messages without takeover
        if decoder is not None and decoder.eof:
            if not _EMPTY_BLOCK.endswith(decoder.unused_data) and decoder.unused_data != b"\x00":
                raise ProtocolError("data after the final block")
            if frame.fin:
                self.decoder = zlib.decompressobj(wbits=-self.remote_max_window_bits)
        return inflated


class DeflateFactory(ServerPerMessageDeflateFactory):
    """Agrees to compression when the client offers it."""

    def process_request_params(
        self, params: Sequence[ExtensionParameter], accepted_extensions: Sequence[Extension]
    ) -> tuple[list[ExtensionParameter], Deflate]:
        """Return the answer to an offer, and what was agreed on. Raises NegotiationError."""
        answer, agreed = super().process_request_params(params, accepted_extensions)
        return answer, Deflate(
            agreed.remote_no_context_takeover,
            agreed.local_no_context_takeover,
            agreed.remote_max_window_bits,
            agreed.local_max_window_bits,
        )
