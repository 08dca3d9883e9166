"""The plugin: its settings, and the task in which the SDK runs."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import attrs
import trio
from starlette.routing import BaseRoute, Route

from fxtrio.config.validators import app_path, at_least
from fxtrio.errors import AppNotRunning, ExtraMissing
from fxtrio.limiters import limiter_of
from fxtrio.origin import read_origin
from fxtrio.plugins.guard import Guard, guard_mistakes, resolve_guard
from fxtrio.plugins.mcp.calls import Calls
from fxtrio.plugins.mcp.endpoint import Access, Endpoint, Metadata, Served
from fxtrio.plugins.protocol import Plugin, Resolver
from fxtrio.serve.starlette_routes import CookielessRoute

if TYPE_CHECKING:
    from fxtrio.app_handle import App

log = logging.getLogger("mcp")

_SDK = "mcp.server.streamable_http_manager"

WELL_KNOWN = "/.well-known/oauth-protected-resource"
"""Where RFC 9728 has the metadata of a resource; its path follows."""


def _site(_: object, __: attrs.Attribute[str], value: str) -> None:
    origin = read_origin(value) if value else None
    if value and (origin is None or origin.scheme not in ("http", "https")):
        raise ValueError(f"must be an origin such as 'https://shop.example', not {value!r}")


def _urls(_: object, __: attrs.Attribute[Any], value: Sequence[str]) -> None:
    for one in value:
        if not one.startswith(("https://", "http://localhost", "http://127.0.0.1")):
            raise ValueError(f"must be URLs that begin with https://, not {one!r}")


@attrs.frozen(kw_only=True)
class McpSettings:
    """Everything about the mcp plugin that can be set."""

    path: str = attrs.field(default="/mcp", validator=app_path)
    """Where agents connect, without the base URL."""

    site: str = attrs.field(default="", validator=_site)
    """The origin under which the app is reached, such as ``https://shop.example``. Without it
    only this machine can connect."""

    guard: str = ""
    """A function that says who may connect, as ``module:function``: a route hook. The hooks of
    the actions decide about each call, with a guard or without."""

    authorization_servers: tuple[str, ...] = attrs.field(default=(), validator=_urls)
    """Issuers of OAuth tokens for this app; those who connect then need a token."""

    scopes: tuple[str, ...] = ()
    """The scopes of tokens that agents may ask for."""

    calls: int = attrs.field(default=100, validator=at_least(1))
    """Most calls of a process that run at the same time (count)."""


class McpPlugin(Plugin[McpSettings]):
    """Serves actions with ``tool=True`` as tools. It has no service."""

    name = "mcp"
    Settings = McpSettings

    _served: Served | None = None

    @asynccontextmanager
    async def open(self, app: App) -> AsyncIterator[None]:
        """Serve the tools for as long as the app runs. Raises GuardInvalid and ExtraMissing."""
        if find_spec("mcp") is None:
            raise ExtraMissing("plugins: mcp", "mcp", "mcp")
        settings = self.settings
        guard = resolve_guard("mcp: guard", settings.guard, app.resolve) if settings.guard else None
        served = Served(self._access(guard), Calls(settings.calls))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._run, app, served)
            self._served = served
            try:
                yield
            finally:
                self._served = None
                nursery.cancel_scope.cancel("the app has ended")

    def _access(self, guard: Guard | None) -> Access:
        settings, config = self.settings, self.config
        return Access(
            site=settings.site,
            resource=self._resource,
            metadata=settings.site + self._metadata_path if settings.authorization_servers else "",
            origins=frozenset(config.csrf.trusted_origins),
            guard=guard,
        )

    @property
    def _resource(self) -> str:
        """The URL of the endpoint, as the settings have it: `Host` may be anybody's."""
        settings = self.settings
        return f"{settings.site}{self.config.base_url}{settings.path}" if settings.site else ""

    @property
    def _metadata_path(self) -> str:
        return f"{self.config.base_url}{WELL_KNOWN}{self.settings.path}"

    async def _run(self, app: App, served: Served) -> None:
        """Import the SDK, and run it."""
        # Its import takes seconds, which neither the start nor a request waits for.
        await trio.to_thread.run_sync(import_module, _SDK, limiter=limiter_of("files"))
        if not log.level:  # it logs two lines for each request
            log.setLevel(logging.WARNING)
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from fxtrio.plugins.mcp.sdk import Tools, make_server

        tools = Tools(self.config.base_url, served.calls)
        server = make_server(self.config.name or "fxtrio", app.build_id, tools)
        most = max(self.config.limits.body, 1)
        manager = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=most)
        async with manager.run():
            served.app = manager.handle_request
            served.imported.set()
            await trio.sleep_forever()

    def mistakes(self, resolve: Resolver) -> Mapping[str, str]:
        """Return why the guard cannot be called, and which settings need another."""
        settings = self.settings
        found = guard_mistakes(settings.guard, resolve)
        if settings.authorization_servers and not settings.site:
            found["site"] = "is needed with 'authorizationServers': tokens are for one site"
        return found

    def routes(self) -> Sequence[BaseRoute]:
        """Return the endpoint, and where its tokens come from."""
        settings = self.settings
        routes: list[BaseRoute] = [CookielessRoute(settings.path, Endpoint(self._now))]
        if settings.authorization_servers:
            metadata = Metadata(
                resource=self._resource,
                servers=settings.authorization_servers,
                scopes=settings.scopes,
            )
            routes.append(Route(WELL_KNOWN + settings.path, metadata.answer, methods=["GET"]))
        return routes

    def _now(self) -> Served:
        if self._served is None:
            raise AppNotRunning
        return self._served
