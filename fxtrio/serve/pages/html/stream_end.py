"""How a page that was sent in parts ends: for browsers with JavaScript, and for those without."""

from __future__ import annotations

from html import escape

import msgspec

from fxtrio.application_errors import application_error
from fxtrio.encode import escape_for_html
from fxtrio.serve.pages.error_response import log_failure
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.pages.payload import Content
from fxtrio.serve.pages.plan import ViewPlan
from fxtrio.serve.request.response.response import ResponseDraft
from fxtrio.serve.request.response.unwrap import unwrap

_EMPTY_ROOT = b'document.getElementById("fx-root").replaceChildren()'
"""The browser renders an empty root element itself, from the payload that follows."""

REVEAL_DEFERRED_PARTS = b"<style>div[hidden][id^='S:']{display:contents!important}</style>"
"""React hides deferred parts until a script moves them into place."""

_HIDE_ROOT = b"<style>#fx-root{display:none}</style>"


class StreamEnding(msgspec.Struct, frozen=True):
    """The data after the last part of a stream."""

    payload: bytes
    script: bytes = b""
    """Runs before the payload is read."""

    plain: bytes = b""
    """For browsers without JavaScript."""


def whole_ending(payload: bytes, *, deferred: bool) -> StreamEnding:
    """Return the end of a page that has all of its data; some of it may have come ``deferred``."""
    return StreamEnding(payload, plain=REVEAL_DEFERRED_PARTS if deferred else b"")


def redirect_ending(url: str) -> StreamEnding:
    """Return the end of a page whose loader redirects when the status has been sent."""
    script = b"location.replace(%b)" % escape_for_html(msgspec.json.encode(url))
    plain = f'<meta http-equiv="refresh" content="0;url={escape(url)}">'
    return StreamEnding(b"{}", script, plain.encode())


async def failure_ending(page: PageEvent, boundary: ViewPlan, content: Content) -> StreamEnding:
    """Return the end of a page whose loader failed when the status has been sent.

    The browser renders the boundary in place of all that was sent. For those without
    JavaScript it is rendered here, unless it holds what cannot stand in a ``noscript``.
    """
    payload = page.payload(boundary, content)
    plain = b""
    try:
        html = (await page.render(boundary, payload)).html
        plain = b"" if b"</noscript" in html.lower() else _HIDE_ROOT + html
    except BaseException as raised:  # an error page is application code too
        module = boundary.view.module
        log_failure(unwrap(application_error(raised), ResponseDraft(), module), module)
    return StreamEnding(payload, _EMPTY_ROOT, plain)
