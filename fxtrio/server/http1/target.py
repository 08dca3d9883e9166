"""The request target, in the parts that an ASGI scope has (RFC 9112, section 3.2). No I/O."""

from __future__ import annotations

import re
from urllib.parse import unquote

from fxtrio.errors import Signal
from fxtrio.server.header_fields import is_host
from fxtrio.server.http1.request import Request

_PERCENT = ord("%")

_absolute = re.compile(rb"(https?)://([^/?]+)(/[^?]*)?(?:\?(.*))?", re.IGNORECASE)


class BadTarget(Signal):
    """The target names no resource of this server. ``status`` is for the answer."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status


def split_target(request: Request, *, secure: bool) -> tuple[str, bytes, bytes]:
    """Return the path decoded, the path as sent, and the query of ``request``.

    An absolute target replaces the Host header (RFC 9112, 3.2.2). ``secure`` says
    whether it came over TLS. Raises BadTarget.
    """
    raw, _, query = request.target.partition(b"?")
    if raw[:1] != b"/":
        raw, query = _split_other(request, secure)
    if _PERCENT in raw:
        return unquote(raw.decode("ascii")), raw, query
    return raw.decode("ascii"), raw, query


def _split_other(request: Request, secure: bool) -> tuple[bytes, bytes]:
    if request.target == b"*":
        if request.method != "OPTIONS":
            raise BadTarget("the target * is for OPTIONS only")
        return b"*", b""
    url = _absolute.fullmatch(request.target)
    if url is None:
        raise BadTarget("the target is not an http URL")
    scheme, host, path, query = url.groups()
    # RFC 9110, 4.2.1 and 4.2.4: a host is needed, and who the user is must not stand there.
    if not is_host(host):
        raise BadTarget("the target has no valid host")
    if scheme.lower() == b"https" and not secure:
        # RFC 9110, 7.4: what is secure must not be answered where everybody can listen.
        raise BadTarget("the target is for TLS", 421)
    request.host = host
    others = [header for header in request.headers if header[0] != b"host"]
    request.headers = [(b"host", host), *others]
    return path or b"/", query or b""
