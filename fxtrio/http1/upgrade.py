"""When a connection is for HTTP/2: its preface was sent, or an upgrade offered (h2c). No I/O."""

from __future__ import annotations

import attrs

from fxtrio.http1.fields import Header
from fxtrio.http1.request import Request

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""What an HTTP/2 client sends first (RFC 9113, section 3.4)."""


@attrs.frozen
class Handover:
    """What HTTP/2 begins with, where it was not agreed on in the TLS handshake."""

    data: bytes = b""
    """Bytes that were read already, and are HTTP/2's."""

    headers: list[Header] | None = None
    """Those of a request that was upgraded, pseudo headers in front: it is stream 1."""

    settings: bytes | None = None
    """The client's settings, as its request's ``HTTP2-Settings`` has them."""


def wants_h2c(request: Request) -> bool:
    """Return whether a request offers a cleartext upgrade that can be taken.

    One with a body cannot be: the body would have to be read as HTTP/1.1 first.
    """
    settings = [value for name, value in request.headers if name == b"http2-settings"]
    return request.upgrade == b"h2c" and not request.has_body and len(settings) == 1


def upgraded(request: Request, rest: bytes) -> Handover:
    """Return how a request that `wants_h2c` goes on, with the bytes that came behind it."""
    headers = [(b":method", request.method.encode()), (b":path", request.target)]
    headers += [(b":authority", request.host), *request.headers]
    return Handover(rest, headers, dict(request.headers)[b"http2-settings"])
