"""For whom a response is made: one visitor, or everyone who will ask for it.

What a page asks of its visitor goes through this one object, so a page does not know
whether its response is sent once or kept for many (`fxtrio.serve.cache.public_audience`).
"""

from __future__ import annotations

from typing import Protocol

import attrs
from starlette.requests import Request
from starlette.types import Message, Scope

from fxtrio.serve.request.requests import PageRequest
from fxtrio.serve.request.response.response import Answer, Entropy, ResponseDraft

AUDIENCE = "fx.audience"
"""Key of the ASGI scope that holds the `Audience` when it is not one visitor."""


class Audience(Protocol):
    """What code that makes a response may ask of those who will get it."""

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
        """Say that the route hooks have let the request pass, with what they set."""
        ...

    def nonce(self) -> bytes:
        """Return what stands for the nonce in the response; empty without a policy."""
        ...

    def time_to_live(self, revalidate: float | None) -> float:
        """Return for how long the client router may use a payload again (seconds)."""
        ...

    def leave_to_browser(self) -> None:
        """Say that the page could not be rendered here."""
        ...

    def take(self, answer: Answer, draft: ResponseDraft) -> Answer:
        """Take the whole answer; return what is sent of it to the one who asked."""
        ...


async def _nothing() -> Message:
    """What a page's code receives: a GET has no body."""
    return {"type": "http.request", "body": b"", "more_body": False}


@attrs.frozen
class OneVisitor:
    """The audience of an ordinary request. One object serves all requests of a site."""

    entropy: Entropy
    policy: bool
    """Whether there is a Content-Security-Policy, which wants a nonce."""

    streams: bool = True
    personal: bool = True

    def connect(self, scope: Scope) -> Request:
        """Return a request without a body."""
        return PageRequest(scope, _nothing)

    def ask(self, hook: str) -> None:
        """Nothing is written down: the visitor's own hooks may read all of it."""

    def admit(self, draft: ResponseDraft) -> None:
        """Nothing depends on it."""

    def nonce(self) -> bytes:
        """Return a nonce that nobody had before."""
        return self.entropy.hex().encode() if self.policy else b""

    def time_to_live(self, revalidate: float | None) -> float:
        """Return 0: what one visitor got is asked for again."""
        return 0

    def leave_to_browser(self) -> None:
        """The visitor's browser renders it."""

    def take(self, answer: Answer, draft: ResponseDraft) -> Answer:
        """Return the whole answer."""
        return answer
