"""Stands in for Node where a build has rendered all pages, and no Node is installed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager

import trio

from fxtrio.serve.pages.resources import RenderParts
from fxtrio.ssr.errors import SsrDown
from fxtrio.ssr.frames import Rendered

_CAUSE = "there is no Node, and the build has not rendered this view"


class StoredRenderer:
    """Knows the renders of a build: those of its not-found views. Browsers render other views."""

    def __init__(self, renders: Mapping[int, Rendered]) -> None:
        self._renders = renders

    async def render(self, page: int, payload: bytes) -> Rendered:
        """Return the stored render of a view, whatever its payload. Raises SsrDown without one."""
        await trio.lowlevel.checkpoint()
        rendered = self._renders.get(page)
        if rendered is None:
            raise SsrDown(_CAUSE)
        return rendered

    def stream(self, page: int, payload: bytes) -> AbstractAsyncContextManager[RenderParts]:
        """Raise SsrDown: parts of a page come from Node."""
        raise SsrDown(_CAUSE)
