"""The audience of a cached response: every visitor.

It records which data of the visitor code reads, and what hooks and pages set, and decides
by that whether the response is the same for all visitors.
"""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.types import Message, Scope

from fxtrio.serve.cache.anonymous_request import AnonymousRequest, Reads, not_shared
from fxtrio.serve.cache.cached_response import CachedResponse, Terms, store_response
from fxtrio.serve.request.response.response import Answer, Reply, ResponseDraft


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


class PublicAudience(msgspec.Struct, eq=False):
    """The audience of one anonymous request. `response` is its result."""

    terms: Terms
    streams: bool = False
    personal: bool = False
    reason: str = ""
    """Why the response depends on the visitor, with the remedy; "" if it does not, or is not
    known."""

    degraded: bool = False
    """Whether the page could not be rendered here, and was left to the browser."""

    translated: int = 0
    """The status of a response with a message that was translated, so that each visitor needs one
    of their own; 0 without such a message."""

    response: CachedResponse | None = None
    """The response for all waiting requests; None if each needs a response of its own."""

    _reads: Reads = msgspec.field(default_factory=Reads)
    _translates: bool = False
    _admitted: bool = False
    _of_hooks: int = 0
    """Headers of the response that the route hooks have set, which come first (count)."""

    def connect(self, scope: Scope) -> Request:
        """Return an anonymous request."""
        return AnonymousRequest(scope, _nothing, self._reads)

    def ask(self, hook: str) -> None:
        """Attribute all further reads to ``hook``."""
        self._reads.hook = hook

    def admit(self, draft: ResponseDraft) -> None:
        """Attribute all further headers to the page."""
        self._admitted = True
        self._of_hooks = len(draft.raw_headers)

    def nonce(self) -> bytes:
        """Return the placeholder, which is replaced for each visitor."""
        return self.terms.nonce

    def time_to_live(self, revalidate: float | None) -> float:
        """Return how long the response is fresh (seconds)."""
        return revalidate or 0

    def leave_to_browser(self) -> None:
        """Send the response to waiting requests, but do not cache it."""
        self.degraded = True

    def translate(self) -> None:
        """Leave the response to each visitor: they read different languages."""
        self._translates = True

    def take(self, answer: Answer, draft: ResponseDraft) -> Answer:
        """Receive the page's response; return the part that middleware may see."""
        self.reason = _personal(self._reads, draft.raw_headers, self._of_hooks)
        if not isinstance(answer, Reply) or not self._admitted:
            return answer  # a redirect, or a hook's own response
        if self._translates:
            self.translated = answer.status
        elif not self.reason:
            cacheable = answer.status == 200 and not self.degraded
            self.response = store_response(answer, draft, self.terms, cacheable=cacheable)
        return Reply(answer.status, b"", answer.media)


def _personal(reads: Reads, drafted: list[tuple[bytes, bytes]], of_hooks: int) -> str:
    """Return why others may not have the response, with the remedy; "" when they may."""
    if reads.found:
        return reads.describe()
    for index, (name, value) in enumerate(drafted):
        what = ""
        if name == b"set-cookie":
            what = "a cookie"
        elif name == b"vary":
            what = "the header Vary"
        elif name == b"cache-control" and (b"private" in value or b"no-store" in value):
            what = f"Cache-Control: {value.decode('latin-1')}"
        if what and index < of_hooks:
            return not_shared(f"a route hook sets {what}", "let the hook not change this page")
        if what:
            return not_shared(f"its code, or a layout's, sets {what}")
    return ""
