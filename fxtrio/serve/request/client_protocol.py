"""Names by which the app and its pages in browsers understand each other.

`fxtrio/js/client/` has them in JavaScript; a test compares.
"""

from __future__ import annotations

from typing import Final

ACTIONS: Final = "/api/__actions/"
"""Where actions are called, behind the base URL: the page's path and the name follow."""

LEAVE: Final = "/api/__leave"
"""Where a document whose values are still sent is ended, behind the base URL: by the client router
that has replaced it, or by a browser that runs no scripts. The query is the document's id."""

SETTLED: Final = b"__fx_settled"
"""The parameter by which a browser that runs no scripts requests a page with all values in place.
It is the last one of the query, and removed before hooks and loaders see the request."""

STREAMS: Final = "/api/__streams/"
"""Where `@stream` functions are read, behind the base URL: as for actions."""

NAVIGATION: Final = b"x-fx-navigation"
"""The header by which the client router asks for the payload instead of the page."""

ONLY: Final = b"x-fx-only"
"""The header by which the client router names the values that it needs: percent-encoded names as in
``promises`` of a payload, such as ``page:reviews``, with commas. Every loader runs all the same."""

PAYLOAD: Final = b"application/vnd.fx.page+json"
"""The media type of payloads: the client router renders such a response and runs its code.

Only the runtime may send it: `payload_media_type` removes it from all other responses.
"""

PAYLOAD_LINES: Final = PAYLOAD + b"-lines"
"""The media type of a payload whose deferred values follow, each in a line of its own."""

PAYLOAD_FILE: Final = "__fx.json"
"""The file of an exported site with the payload of a page, in the folder of the page."""
