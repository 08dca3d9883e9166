"""Documents whose deferred values are still sent, by an id that only their browsers know.

A browser cannot close the response of a document that stays open. The client router names the
id when it has replaced the page, and what nobody waits for any more is cancelled.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import trio
from starlette.responses import Response

from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.response.response import Answer


class OpenDocuments(msgspec.Struct, frozen=True, eq=False):
    """Those of one process."""

    _scopes: dict[bytes, trio.CancelScope] = msgspec.field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._scopes)

    @contextmanager
    def opened(self, id: bytes, scope: trio.CancelScope) -> Iterator[None]:
        """Let `leave` cancel ``scope`` for as long as the block lasts."""
        self._scopes[id] = scope
        try:
            yield
        finally:
            del self._scopes[id]

    def leave(self, id: bytes) -> None:
        """Cancel what is still to come to the document ``id``; an unknown one is complete."""
        scope = self._scopes.get(id)
        if scope is not None:
            scope.cancel("the client router has replaced the page")


def answer_leave(documents: OpenDocuments, event: RequestEvent) -> Answer:
    """Take the message of a browser that has left the document in the query."""
    if event.scope["method"] not in ("GET", "POST"):  # an image of `without_scripts`, or a beacon
        return Response(status_code=405, headers={"allow": "GET, POST"})
    documents.leave(event.scope["query_string"])
    return Response(status_code=204)
