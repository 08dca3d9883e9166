"""The plugin: it lets `fx tree` ask this process, and serves the tree to those a guard admits."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import attrs
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from fxtrio.config.validators import app_path
from fxtrio.errors import AppNotRunning
from fxtrio.observe.observer import open_observer
from fxtrio.observe.text import text_of
from fxtrio.observe.tree import Loop, take_tree
from fxtrio.plugins.guard import Guard, guard_mistakes, guarded, resolve_guard
from fxtrio.plugins.protocol import Plugin, Resolver
from fxtrio.spans import Span

if TYPE_CHECKING:
    from fxtrio.app_handle import App

_OF_ONE = {"cache-control": "no-store", "vary": "accept"}


@attrs.frozen(kw_only=True)
class ObserveSettings:
    """Everything about the observe plugin that can be set."""

    path: str = attrs.field(default="/_tree", validator=app_path)
    """Where the tree is served, without the base URL."""

    guard: str = ""
    """A function that says who may see it, as ``module:function``: a route hook. Without one
    the tree is not served, and `fx tree --pid` shows it on the machine itself."""


class _Named:
    """Lets requests and jobs have names, which the tree shows: somebody listens."""

    def begin(self, span: Span) -> None:
        """Need nothing."""

    def end(self, span: Span) -> None:
        """Need nothing."""

    def carry(self, span: Span) -> str | None:
        """Carry nothing."""
        return None


class ObservePlugin(Plugin[ObserveSettings]):
    """Answers for the tree of this process. It has no service."""

    name = "observe"
    observed = True
    Settings = ObserveSettings
    _observed: tuple[Loop, Guard] | None = None

    @asynccontextmanager
    async def open(self, app: App) -> AsyncIterator[None]:
        """Answer for as long as the app runs. Raises GuardInvalid."""
        name = self.settings.guard
        guard = resolve_guard("observe: guard", name, app.resolve) if name else None
        named = _Named()
        with open_observer() as loop:
            app.spans.add(named)
            if guard is not None:
                self._observed = loop, guard
            try:
                yield
            finally:
                self._observed = None
                app.spans.remove(named)

    def mistakes(self, resolve: Resolver) -> Mapping[str, str]:
        """Return why the guard cannot be called."""
        return guard_mistakes(self.settings.guard, resolve)

    def routes(self) -> Sequence[BaseRoute]:
        """Return the tree, if there is a guard."""
        if not self.settings.guard:
            return ()
        return (Route(self.settings.path, self._answer, methods=["GET"]),)

    async def _answer(self, request: Request) -> Response:
        if self._observed is None:
            raise AppNotRunning
        loop, guard = self._observed
        return await guarded(guard, request, partial(self._show, loop))

    async def _show(self, loop: Loop, request: Request) -> Response:
        tree = take_tree(loop, os.getpid()).as_dict()
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse(tree, headers=_OF_ONE)
        return PlainTextResponse(text_of(tree), headers=_OF_ONE)
