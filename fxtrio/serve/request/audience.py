"""The audience of a response: one visitor, or every visitor of a cached page.

A page reads its visitor through this object alone, so it does not know whether its
response is sent once or cached for many (`fxtrio.serve.cache.public_audience`).
"""

from __future__ import annotations

from typing import Protocol

import msgspec
from starlette.requests import Request
from starlette.types import Scope

from fxtrio.serve.request.requests import BodilessRequest
from fxtrio.serve.request.response.response import Answer, Entropy, ResponseDraft

AUDIENCE = "fx.audience"
"""Key of the ASGI scope that holds the `Audience` when it is not one visitor."""


class Audience(Protocol):
    """The interface through which a page learns about the recipients of its response."""

    @property
    def streams(self) -> bool:
        """Whether the response may be sent while it is rendered."""
        ...

    @property
    def personal(self) -> bool:
        """Whether the response may carry a proof that is for one visitor alone."""
        ...

    def connect(self, scope: Scope) -> Request:
        """Return the request that hooks, loaders and Markdown functions get."""
        ...

    def ask(self, hook: str) -> None:
        """Say that the route hook ``hook`` runs from now on; "" for the page and its layouts."""
        ...

    def admit(self, draft: ResponseDraft) -> None:
        """Record that the route hooks accepted the request, with the headers they set."""
        ...

    def nonce(self) -> bytes:
        """Return the nonce or its placeholder; empty without a content security policy."""
        ...

    def time_to_live(self, revalidate: float | None) -> float:
        """Return for how long the client router may use a payload again (seconds)."""
        ...

    def leave_to_browser(self) -> None:
        """Say that the page could not be rendered here."""
        ...

    def translate(self) -> None:
        """Say that a message is about to be translated for the request."""
        ...

    def take(self, answer: Answer, draft: ResponseDraft) -> Answer:
        """Receive the complete response; return the part to send to this client."""
        ...


class SingleVisitor(msgspec.Struct, frozen=True):
    """The audience of an ordinary request. One object serves all requests of a site."""

    entropy: Entropy
    policy: bool
    """Whether there is a Content-Security-Policy, which wants a nonce."""

    streams: bool = True
    personal: bool = True

    def connect(self, scope: Scope) -> Request:
        """Return a request without a body."""
        return BodilessRequest(scope)

    def ask(self, hook: str) -> None:
        """Nothing is written down: the visitor's own hooks may read all of it."""

    def admit(self, draft: ResponseDraft) -> None:
        """Nothing depends on it."""

    def nonce(self) -> bytes:
        """Return a new random nonce."""
        return self.entropy.hex().encode() if self.policy else b""

    def time_to_live(self, revalidate: float | None) -> float:
        """Return 0: a personal response is not cached."""
        return 0

    def leave_to_browser(self) -> None:
        """The visitor's browser renders it."""

    def translate(self) -> None:
        """The request is the visitor's own."""

    def take(self, answer: Answer, draft: ResponseDraft) -> Answer:
        """Return the response unchanged."""
        return answer
