"""Stands in for Node where a build has rendered all pages, and no Node is installed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager

import msgspec
import trio

from fxtrio.serve.pages.resources import RenderParts
from fxtrio.ssr.errors import SsrDown
from fxtrio.ssr.frames import Rendered

_CAUSE = "there is no Node, and the build has not rendered this view"


class _State(msgspec.Struct, rename="camel"):
    """What tells a URL of no page from others in the payload of a view."""

    params: dict[str, object]
    route_path: str | None


def is_of_no_page(payload: bytes) -> bool:
    """Return whether a view is rendered for a URL that no page has, and that has no parameters.

    Others are not all the same: they know the parameters, and what a loader has raised.
    """
    state = msgspec.json.decode(payload, type=_State)
    return state.route_path is None and not state.params


class StoredRenderer:
    """Knows the renders of a build: those of its not-found views, for URLs of no page.

    Browsers render other views.
    """

    def __init__(self, renders: Mapping[int, Rendered]) -> None:
        self._renders = renders

    async def render(self, page: int, payload: bytes) -> Rendered:
        """Return the stored render of a view. Raises SsrDown without one for this payload."""
        await trio.lowlevel.checkpoint()
        rendered = self._renders.get(page)
        if rendered is None or not is_of_no_page(payload):
            raise SsrDown(_CAUSE)
        return rendered

    def stream(self, page: int, payload: bytes) -> AbstractAsyncContextManager[RenderParts]:
        """Raise SsrDown: parts of a page come from Node."""
        raise SsrDown(_CAUSE)
