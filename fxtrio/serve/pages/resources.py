"""The resources of a running app."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import msgspec

from fxtrio.app_handle import App, RequestMeter
from fxtrio.policy.open import Count
from fxtrio.serve.event_streams.open_streams import OpenStreams
from fxtrio.serve.pages.deferred.open_documents import OpenDocuments
from fxtrio.serve.readiness import AppReadiness
from fxtrio.serve.request.bodies.spool import Bodies
from fxtrio.serve.request.response.background import Background
from fxtrio.serve.request.watchdog import Watchdog
from fxtrio.ssr.frames import Rendered


class RenderParts(Protocol):
    """A render in parts, the first with the head."""

    def __aiter__(self) -> AsyncIterator[Rendered]:
        """Iterate over the parts."""
        ...

    async def resolve(self, name: str, value: bytes) -> None:
        """Give the render a value, as JSON, that it waits for."""
        ...

    async def reject(self, name: str, error: bytes) -> None:
        """Reject a deferred value of the render, with an error as a JSON object."""
        ...


class Renderer(Protocol):
    """Renders page states to HTML: `SsrPool`, or a fake in tests."""

    async def render(self, page: int, payload: bytes) -> Rendered:
        """Return the render of the view with the id ``page``."""
        ...

    def stream(self, page: int, payload: bytes) -> AbstractAsyncContextManager[RenderParts]:
        """Render a view in parts, for the length of the block."""
        ...


class Running(msgspec.Struct, frozen=True, eq=False):
    """The resources that the lifespan opened. Valid until it ends."""

    app: App
    watchdog: Watchdog
    background: Background
    renderer: Renderer
    bodies: Bodies
    streams: OpenStreams
    readiness: AppReadiness
    count: Count | None = None
    """Counts the requests of clients; None without rate limits."""

    meter: RequestMeter | None = None
    """Counts requests for whoever watches the app; None without metrics."""

    documents: OpenDocuments = msgspec.field(default_factory=OpenDocuments)
