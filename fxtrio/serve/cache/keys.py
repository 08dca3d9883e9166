"""Cache keys, and the anonymous request for which a cached response is rendered."""

from __future__ import annotations

from urllib.parse import unquote_plus

from starlette.types import Scope

from fxtrio.serve.request.audience import AUDIENCE, Audience
from fxtrio.serve.request.client_protocol import NAVIGATION
from fxtrio.serve.request.event import RequestEvent

Key = tuple[bytes, ...]
"""All that a stored response depends on: representation, scheme, host, path and query."""

HTML_NAME = b"html"
NAVIGATION_NAME = b"navigation"
MARKDOWN_NAME = b"markdown"

_ASKING = {
    HTML_NAME: (b"accept", b"text/html"),
    NAVIGATION_NAME: (NAVIGATION, b"1"),
    MARKDOWN_NAME: (b"accept", b"text/markdown"),
}


def key_of(event: RequestEvent, representation: bytes) -> Key:
    """Return the key of one representation of the requested page."""
    scope = event.scope
    return (
        representation,
        scope["scheme"].encode(),
        event.headers.get(b"host", b"").lower(),
        raw_path(scope),
        canonical_query(scope["query_string"]),
    )


def anonymous_scope(
    event: RequestEvent, audience: Audience, *, representation: bytes, query: bytes
) -> Scope:
    """Return the scope of an anonymous request for the same URL."""
    scope = event.scope
    host = event.headers.get(b"host")
    return {
        "type": "http",
        "asgi": scope["asgi"],
        "http_version": scope["http_version"],
        "method": "GET",
        "scheme": scope["scheme"],
        "server": scope.get("server"),
        "client": None,  # middleware may trust an address
        "root_path": scope.get("root_path", ""),
        "path": scope["path"],
        "raw_path": raw_path(scope),
        "query_string": query,
        "headers": [_ASKING[representation], *([] if host is None else [(b"host", host)])],
        "state": {},
        AUDIENCE: audience,
    }


def raw_path(scope: Scope) -> bytes:
    """Return the path as it was sent, without the query."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw.partition(b"?")[0]


def canonical_query(query: bytes) -> bytes:
    """Return a query sorted by name, without empty parts; values of one name keep their order.

    Names are compared as code will read them: ``a`` and ``%61`` are one.
    """
    if not query:
        return b""
    parts = [part for part in query.split(b"&") if part]
    parts.sort(key=_name)
    return b"&".join(parts)


def _name(part: bytes) -> str:
    """Return the name of a part of a query, as Starlette decodes it."""
    return unquote_plus(part.partition(b"=")[0].decode("latin-1"))
