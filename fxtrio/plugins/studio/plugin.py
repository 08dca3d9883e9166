"""The plugin: Studio in production, for those whom a guard admits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import attrs
import trio
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from fxtrio.asgi_extensions import url_of_root
from fxtrio.config.validators import app_path
from fxtrio.errors import AppNotRunning
from fxtrio.observe.observer import open_observer
from fxtrio.observe.tree import Loop
from fxtrio.plugins.guard import Guard, guard_mistakes, guarded, resolve_guard
from fxtrio.plugins.protocol import Plugin, Resolver
from fxtrio.plugins.studio import html
from fxtrio.plugins.studio.sections import PageContext
from fxtrio.plugins.studio.studio import PAUSE, POLICY, TOO_MANY, Watchers, query_of, render_page
from fxtrio.plugins.studio.timings import Timings
from fxtrio.serve.event_streams.open_streams import OpenStreams, StreamsFull

if TYPE_CHECKING:
    from fxtrio.app_handle import App

_OF_ONE = {"cache-control": "no-store", "content-security-policy": POLICY}


@attrs.frozen(kw_only=True)
class StudioSettings:
    """Everything about the studio plugin that can be set."""

    guard: str
    """A function that says who may see it, as ``module:function``: a route hook."""

    path: str = attrs.field(default="/_studio", validator=app_path)
    """Where it is, without the base URL."""


@attrs.frozen
class _Open:
    """What the pages need of the running app."""

    guard: Guard
    timings: Timings
    loop: Loop
    watchers: Watchers


class StudioPlugin(Plugin[StudioSettings]):
    """Shows the running app. It has no service."""

    name = "studio"
    observed = True
    Settings = StudioSettings
    _open: _Open | None = None

    @asynccontextmanager
    async def open(self, app: App) -> AsyncIterator[None]:
        """Listen to requests and jobs for as long as the app runs. Raises GuardInvalid."""
        guard = resolve_guard("studio: guard", self.settings.guard, app.resolve)
        timings = Timings(hidden=self.config.base_url + self.settings.path, log=None)
        with open_observer() as loop:
            app.spans.add(timings)
            self._open = _Open(guard, timings, loop, Watchers(timings))
            try:
                yield
            finally:
                self._open = None
                app.spans.remove(timings)

    def mistakes(self, resolve: Resolver) -> Mapping[str, str]:
        """Return why the guard cannot be called."""
        return guard_mistakes(self.settings.guard, resolve)

    def routes(self) -> Sequence[BaseRoute]:
        """Return the pages, their script and their stream."""
        path = self.settings.path
        return (
            Route(path, self._guarded(self._page), methods=["GET"]),
            Route(f"{path}/page.js", self._guarded(_script), methods=["GET"]),
            Route(f"{path}/events", self._guarded(self._events), methods=["GET"]),
            Route(f"{path}/{{name}}", self._guarded(self._page), methods=["GET"]),
        )

    def _guarded(
        self, answer: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            opened = self._opened()
            return await guarded(opened.guard, request, answer)

        return endpoint

    def _opened(self) -> _Open:
        if self._open is None:
            raise AppNotRunning
        return self._open

    async def _page(self, request: Request) -> Response:
        name = request.path_params.get("name", "requests")
        opened, query = self._opened(), query_of(request.scope)
        context = PageContext(request.app, opened.timings, opened.loop, False, request.scope, query)
        root = url_of_root(request.scope) + self.config.base_url
        page = await render_page(name, context, root + self.settings.path)
        if page is None:
            return PlainTextResponse("Not found\n", 404, _OF_ONE)
        return HTMLResponse(page, headers=_OF_ONE)

    async def _events(self, request: Request) -> Response:
        watchers = self._opened().watchers
        if watchers.is_full:
            return PlainTextResponse(TOO_MANY, 503)
        return _Events(watchers)


class _Events(Response):
    """The stream of events, which counts as one of `limits.streams`, and ends at a shutdown."""

    def __init__(self, watchers: Watchers) -> None:
        super().__init__()
        self._watchers = watchers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond."""
        streams: OpenStreams = scope["app"].lifetime.running.streams
        try:
            admission = streams.admit("studio")
        except StreamsFull as error:
            await PlainTextResponse(f"{error}\n", 503)(scope, receive, send)
            return
        with admission as admitted:

            async def pause() -> bool:
                with admitted.until(trio.current_time() + PAUSE):
                    await trio.sleep_forever()
                return not admitted.is_closing

            await self._watchers.send_events(receive, send, pause)


async def _script(request: Request) -> Response:
    return Response(html.SCRIPT, media_type="text/javascript", headers=_OF_ONE)
