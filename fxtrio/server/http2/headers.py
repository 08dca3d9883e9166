"""Headers of HTTP/2: validates those of requests, and builds those of responses. No I/O.

h2 has checked the syntax of the header block: names, pseudo headers, their order and number.
The other rules are those that the parser of HTTP/1.1 checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hypercorn.utils import filter_pseudo_headers

from fxtrio.server.header_fields import Header, is_host, repeated
from fxtrio.server.http1.limits import ServerLimits
from fxtrio.server.http1.request import RejectedRequest
from fxtrio.server.http1.response import BadResponse, checked_name

_method = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}")
_forbidden = re.compile(rb"[\r\n\0]")
_path = re.compile(rb"/[!-\"$-~]*")


def check_request(
    headers: Iterable[Header], limits: ServerLimits, *, ended: bool
) -> RejectedRequest | None:
    """Return why a request is not taken; None when it is.

    ``headers`` are h2's, pseudo headers included. ``ended``: no body follows.
    """
    fields = list(headers)
    found = dict(fields)
    method, path = found.get(b":method", b""), found.get(b":path", b"")
    if _method.fullmatch(method) is None:
        return RejectedRequest(400, f"not a method: {method[:32]!r}")
    if method == b"CONNECT" and found.get(b":protocol") != b"websocket":
        return RejectedRequest(501, "CONNECT is supported for WebSockets only")
    if len(path) > limits.request_line:
        return RejectedRequest(414, "the request target is too long")
    if _path.fullmatch(path) is None and (path, method) != (b"*", b"OPTIONS"):
        return RejectedRequest(400, f"not a path: {path[:80]!r}")
    if sum(not name.startswith(b":") for name, _ in fields) > limits.headers:
        return RejectedRequest(431, "too many header fields")
    twice = repeated(fields)
    if twice is not None:
        return RejectedRequest(400, f"more than one {twice.decode()} header")
    host = found.get(b":authority", found.get(b"host"))
    if host is not None and not is_host(host):
        return RejectedRequest(400, f"the authority is not valid: {host[:80]!r}")
    length = found.get(b"content-length")
    if length is not None:
        if not length.isdigit():
            return RejectedRequest(400, "the content-length is not a number")
        if ended and length.strip(b"0"):
            return RejectedRequest(400, "the body is shorter than its content-length")
        if limits.body is not None and int(length[:20]) > limits.body:
            return RejectedRequest(413, "the body is too long")
    return None


def application_headers(headers: Iterable[Header], limits: ServerLimits) -> list[Header]:
    """Return the fields of a request as the application gets them: without pseudo headers.

    An offer to compress a WebSocket is left out where the limits forbid it.
    """
    headers_for_app: list[Header] = filter_pseudo_headers(list(headers))
    if limits.websocket_compression:
        return headers_for_app
    return [pair for pair in headers_for_app if pair[0] != b"sec-websocket-extensions"]


def response_head(status: int, headers: Iterable[Header], common: Iterable[Header]) -> list[Header]:
    """Return the header fields of a response; those of ``common`` unless it has the name.

    Raises BadResponse for an invalid header.
    """
    lines = [(b":status", b"%d" % status)]
    for name, value in headers:
        if _forbidden.search(value) is not None:  # h2 would send it
            raise BadResponse(f"{value!r} is not the value of the header {name!r}.")
        lines.append((checked_name(name), value))
    present = {name for name, _ in lines}
    lines += [line for line in common if line[0] not in present]
    return lines
