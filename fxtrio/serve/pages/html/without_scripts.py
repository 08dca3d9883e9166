"""Pages in parts for browsers that run no scripts: these load the page again, as a whole.

Parts that come late are moved into their place by scripts. So behind the shell there is a
`noscript`: its image ends the response, and its refresh, which browsers postpone until then,
requests the same URL with `SETTLED`. That page is rendered when all values have come.
"""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.request.client_protocol import LEAVE, SETTLED
from fxtrio.serve.request.event import RequestEvent

_OUTLINED = b'<div hidden id="S:'
"""What React begins a part with that its script moves into place."""


def find_settled(event: RequestEvent) -> None:
    """Take the parameter `SETTLED` out of the query, and note that it was there."""
    query: bytes = event.scope["query_string"]
    if query.endswith(SETTLED):
        rest = query.removesuffix(SETTLED)
        if rest == b"" or rest.endswith(b"&"):
            event.scope["query_string"] = rest.removesuffix(b"&")
            event.settled = True


def load_settled(page: PageEvent, document: bytes = b"") -> bytes:
    """Return the element by which a browser without scripts loads the page again.

    ``document`` is the id of a document that still waits for data, which is ended first.
    """
    event = page.event
    url = event.requested
    if url.startswith("//") or _is_own_referrer(event, url):
        return b""
    target = f"{url}{'&' if '?' in url else '?'}{SETTLED.decode()}"
    again = f'<meta http-equiv="refresh" content="0;url={escape(target)}">'
    if document:
        end = f"{quote(page.site.base_url, safe=SAFE_IN_PATHS)}{LEAVE}?{document.decode()}"
        again += f'<img src="{escape(end)}" alt="" hidden>'
    return f"<noscript>{again}</noscript>".encode("latin-1")


def _is_own_referrer(event: RequestEvent, url: str) -> bool:
    """Return whether a page links to itself: it would be loaded again for ever.

    That happens if something in front of the app removes `SETTLED` from the URL, such as a
    middleware that redirects requests with unknown parameters.
    """
    referrer = event.headers.get(b"referer", b"").decode("latin-1")
    return "/" + referrer.partition("://")[2].partition("/")[2] == url


def has_outlined(part: bytes) -> bool:
    """Return whether a part of a render has something that only a script shows in its place."""
    return _OUTLINED in part
