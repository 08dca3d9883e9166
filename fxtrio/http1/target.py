"""The request target, in the parts that an ASGI scope has (RFC 9112, section 3.2). No I/O."""

from __future__ import annotations

from urllib.parse import unquote

import httptools

from fxtrio.http1.request import Request


class BadTarget(Exception):
    """The target names no resource of an HTTP server."""


def split_target(request: Request) -> tuple[str, bytes, bytes]:
    """Return the path decoded, the path as sent, and the query of ``request``.

    An absolute target replaces the Host header (RFC 9112, 3.2.2). Raises BadTarget.
    """
    raw, _, query = request.target.partition(b"?")
    if raw[:1] != b"/":
        raw, query = _split_other(request)
    if b"%" in raw:
        return unquote(raw.decode("ascii")), raw, query
    return raw.decode("ascii"), raw, query


def _split_other(request: Request) -> tuple[bytes, bytes]:
    if request.target == b"*":
        if request.method != "OPTIONS":
            raise BadTarget("the target * is for OPTIONS only")
        return b"*", b""
    try:
        url = httptools.parse_url(request.target)
    except httptools.HttpParserInvalidURLError as error:
        raise BadTarget(str(error)) from None
    if url.host is None or url.userinfo is not None or url.schema not in (b"http", b"https"):
        raise BadTarget("the target is not an http URL")
    host = b"[%b]" % url.host if b":" in url.host else url.host
    if url.port:
        host = b"%b:%d" % (host, url.port)
    request.headers = [
        (name, host if name == b"host" else value) for name, value in request.headers
    ]
    return url.path or b"/", url.query or b""
