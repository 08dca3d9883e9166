"""What Markdown hooks receive. Created by `fxtrio.serve` for each request.

The classes are frozen; what a page's loader and render returned is cached for the length
of the request, so that two hooks that ask cost one run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import trio
from starlette.requests import Request


class _Once:
    """Runs ``get`` at the first call, and returns the same value from then on.

    A failure is not cached. Callers at the same time share one run.
    """

    def __init__(self, get: Callable[[], Awaitable[Any]]) -> None:
        self._get = get
        self._values: list[Any] = []
        self._running = False
        self._ended: trio.Event | None = None  # of the run, where somebody waits for it

    async def value(self) -> Any:
        while not self._values:
            if not self._running:
                await self._run()
            else:
                if self._ended is None:
                    self._ended = trio.Event()
                await self._ended.wait()
        return self._values[0]

    async def _run(self) -> None:
        self._running = True
        try:
            self._values.append(await self._get())
        finally:
            self._running = False
            ended, self._ended = self._ended, None
            if ended is not None:
                ended.set()


@attrs.frozen(eq=False)
class MarkdownContext:
    """Passed to ``to_markdown`` and ``wrap_markdown``."""

    request: Request
    """The request; ``request.path_params`` holds the parameters of the route."""

    path: str
    """The page's path, always without ``.md``."""

    _loader: _Once = attrs.field(alias="load", converter=_Once, repr=False, kw_only=True)
    _html: _Once = attrs.field(alias="render", converter=_Once, repr=False, kw_only=True)

    async def run_loader(self) -> Any:
        """Run only the page's loader and return its data; ``{}`` when it has none.

        Runs once for a request: later calls return the same object. Raises what the
        loader raises.
        """
        return await self._loader.value()

    async def render_html(self) -> str:
        """Run the loaders, render on the server, and return the HTML of the body.

        Happens at most once for a request, at the first call. Raises what loaders and
        renderer raise.
        """
        html: str = await self._html.value()
        return html


@attrs.frozen
class LlmsPageInfo:
    """A page in ``/llms.txt``."""

    path: str
    """For example ``/blog``."""

    md_url: str
    """The path of its Markdown: ``/blog.md``, for the root ``/index.md``."""

    title: str
    """For people: ``Getting Started`` for ``/getting-started``."""


@attrs.frozen(eq=False)
class LlmsTxtContext:
    """Passed to ``llms_txt``."""

    request: Request

    pages: tuple[LlmsPageInfo, ...]
    """The app's pages whose path has no parameters, in the order of their paths."""

    _default: Callable[[], str] = attrs.field(alias="default", repr=False, kw_only=True)

    def render_default(self) -> str:
        """Return the generated ``/llms.txt``."""
        return self._default()
