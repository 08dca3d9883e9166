"""Names by which the app and its pages in browsers understand each other.

`fxtrio/js/client/` has them in JavaScript; a test compares.
"""

from __future__ import annotations

from typing import Final

ACTIONS: Final = "/api/__actions/"
"""Where actions are called, behind the base URL: the page's path and the name follow."""

LEAVE: Final = "/api/__leave"
"""Where the client router says, behind the base URL, that it has replaced a document whose values
are still sent. The query is the document's id."""

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
