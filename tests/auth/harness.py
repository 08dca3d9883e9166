"""An app around the auth plugin alone: its middleware, its routes, a page and a clock."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from http.cookies import SimpleCookie
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import attrs
import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from fxtrio.app_handle import App
from fxtrio.config import load_config
from fxtrio.context import entered
from fxtrio.db import open_database
from fxtrio.plugins import open_plugins
from fxtrio.plugins.auth import Argon2Settings, AuthPlugin, AuthService, AuthSettings
from fxtrio.plugins.auth.storage.sql_storage import DatabaseStorage

EMAIL = "ada@example.org"
PASSWORD = "correct horse battery"
KEY = "the first secret key of the tests"
CHEAP = Argon2Settings(time_cost=1, memory_kib=8, parallelism=1)


class Clock:
    """A wall clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


@attrs.define
class Auth:
    """A running app with the plugin."""

    plugin: AuthPlugin
    service: AuthService
    clock: Clock
    handle: App
    asgi: ASGIApp

    @property
    def queries(self) -> int:
        return self.service.storage.statistics().queries

    @property
    def storage(self) -> DatabaseStorage:
        assert isinstance(self.service.storage, DatabaseStorage)
        return self.service.storage

    async def rows(self, sql: str) -> list[dict[str, Any]]:
        """Ask the database behind the storage; tables are called ``fx_auth_…``."""
        return await self.storage.database.all(dict, self.storage._named(sql))

    def client(self, scheme: str = "https", host: str = "203.0.113.5") -> httpx.AsyncClient:
        """Return a browser: it keeps cookies, and comes from the address ``host``."""
        transport = httpx.ASGITransport(app=self.asgi, client=(host, 1234))
        return httpx.AsyncClient(transport=transport, base_url=f"{scheme}://app.test")

    def socket(
        self, cookie: str | None = None, scheme: str = "wss", path: str = "/ws"
    ) -> WebSocket:
        """Return a WebSocket at its handshake."""
        headers = [] if cookie is None else [(b"cookie", cookie.encode())]
        scope = {
            "type": "websocket",
            "scheme": "wss",
            "path": path,
            "query_string": b"",
            "headers": headers,
            "app": SimpleNamespace(state=SimpleNamespace(fx=self.handle)),
        }
        return WebSocket(scope, cast("Any", None), cast("Any", None))


async def show_user(request: Request) -> Response:
    user = request.state.user
    return JSONResponse({"email": None if user is None else user.email})


async def show_cached(request: Request) -> Response:
    return Response("x", headers={"cache-control": "public, max-age=60"})


@asynccontextmanager
async def open_auth(
    root: Path,
    *,
    clock: Clock | None = None,
    keys: tuple[str, ...] = (KEY,),
    base_url: str = "",
    **settings: Any,
) -> AsyncIterator[Auth]:
    """Run the plugin in the project folder ``root``; ``settings`` are `AuthSettings`.

    Accounts are in the app's database where the settings in ``root`` name one.
    """
    clock = clock or Clock()
    config = load_config(root, secret_keys=keys, base_url=base_url)
    auth_settings = AuthSettings(**{"argon2": CHEAP, **settings})
    plugin = AuthPlugin(auth_settings, config=config, root=root, clock=clock)
    async with AsyncExitStack() as stack:
        database = None
        if config.database.url:
            database = await stack.enter_async_context(open_database(config.database, root))
        nothing = cast("Any", SimpleNamespace())
        handle = App(config=config, tasks=nothing, broker=nothing, state=nothing, database=database)
        asgi = _application(plugin, handle, base_url)
        await stack.enter_async_context(open_plugins([plugin], handle))
        yield Auth(plugin, handle.plugins["auth"], clock, handle, asgi)


def _application(plugin: AuthPlugin, handle: App, base_url: str) -> ASGIApp:
    routes = [
        *plugin.routes(),
        Route("/me", show_user),
        Route("/cached", show_cached),
        Route("/_fx/asset.js", show_user),
    ]
    site = Starlette(routes=[Mount(base_url, routes=routes)] if base_url else routes)
    wrapped = plugin.middleware(site)

    async def asgi(scope: Scope, receive: Receive, send: Send) -> None:
        with entered(handle):
            await wrapped(scope, receive, send)

    return asgi


@asynccontextmanager
async def open_auth_with_user(root: Path, **settings: Any) -> AsyncIterator[Auth]:
    """Run the plugin with one user, `EMAIL` and `PASSWORD`."""
    async with open_auth(root, **settings) as auth:
        await auth.service.add_user(EMAIL, PASSWORD)
        yield auth


async def log_in(client: httpx.AsyncClient, **fields: Any) -> httpx.Response:
    body = {"email": EMAIL, "password": PASSWORD, **fields}
    return await client.post("/api/__auth/login", json=body)


async def user_of(client: httpx.AsyncClient) -> str | None:
    response = await client.get("/me")
    email: str | None = response.json()["email"]
    return email


def cookie_of(response: httpx.Response) -> Any:
    """Return the session cookie that a response sets, with its attributes."""
    (header,) = response.headers.get_list("set-cookie")
    cookies = SimpleCookie(header)
    ((_, morsel),) = cookies.items()
    return morsel


def carry(response: httpx.Response) -> str:
    """Return the session cookie of a response as a client sends it back."""
    morsel = cookie_of(response)
    return f"{morsel.key}={morsel.value}"
