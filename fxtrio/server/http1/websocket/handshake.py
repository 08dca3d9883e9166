"""The opening of a WebSocket (RFC 6455, section 4), without I/O.

`read_offer` judges the client's request; `Offer.accept` makes the answer that the
application's ``websocket.accept`` calls for.
"""

from __future__ import annotations

import base64
import binascii
import logging

import attrs
from websockets.datastructures import Headers
from websockets.exceptions import InvalidHeader, InvalidHeaderFormat
from websockets.headers import parse_subprotocol
from websockets.protocol import OPEN
from websockets.server import ServerProtocol
from websockets.utils import accept_key

from fxtrio.server.http1.limits import ServerLimits
from fxtrio.server.http1.request import RejectedRequest, Request
from fxtrio.server.http1.response import BadResponse, Message, checked_name
from fxtrio.server.http1.websocket.deflate import DeflateFactory

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
    headers = Headers()
    for name, value in request.headers:
        if name.startswith(b"sec-websocket-"):
            headers[name.decode("ascii")] = value.decode("latin-1")
    if request.has_body:
        return RejectedRequest(400, "a WebSocket request has a body")
    if headers.get_all("sec-websocket-version") != ["13"]:
        return RejectedRequest(426, "the WebSocket version is not 13")
    keys = headers.get_all("sec-websocket-key")
    if len(keys) != 1 or not _is_key(keys[0]):
        return RejectedRequest(400, "the WebSocket key is not valid")
    factories = [DeflateFactory()] if limits.websocket_compression else None
    protocol = ServerProtocol(
        state=OPEN, extensions=factories, max_size=limits.websocket_message, logger=_silent
    )
    try:
        offered = headers.get_all("sec-websocket-protocol")
        subprotocols = [str(name) for value in offered for name in parse_subprotocol(value)]
        extensions, protocol.extensions = protocol.process_extensions(headers)
    except (InvalidHeader, InvalidHeaderFormat) as error:
        return RejectedRequest(400, str(error)[:_QUOTED_IN_LOG])
    return Offer(keys[0], subprotocols, protocol, extensions)


def _is_key(key: str) -> bool:
    try:
        return len(base64.b64decode(key.encode("latin-1"), validate=True)) == 16
    except binascii.Error:
        return False
