"""An app behind a real socket, for tests with real clients: HTTP, WebSockets, a browser.

`open_server` runs the app as `open_app` does, and the server of `fx serve` in front of it.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import trio

from fxtrio.application import Application
from fxtrio.errors import PlacedError
from fxtrio.server.supervise.hypercorn_config import make_config
from fxtrio.server.supervise.listening.binding import Sockets
from fxtrio.server.supervise.options import ServeOptions
from fxtrio.server.supervise.server import run_server
from fxtrio.testing.client import Client
from fxtrio.testing.open import open_app
from fxtrio.testing.unwrap_groups import ungrouped

if TYPE_CHECKING:
    import httpx
    import trio_websocket
    from playwright.sync_api import Page

T = TypeVar("T")

_BACKLOG = 128
_PATIENCE = 10_000.0
"""How long a browser waits for what a test wants to see (ms)."""

_BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
"""Programs that are tried where Playwright has installed no browser of its own."""


class ToolMissing(PlacedError):
    """A test needs the package ``name``, which is not installed."""

    def __init__(self, name: str, remedy: str) -> None:
        super().__init__(name, "it is not installed", remedy)
        self.name = name


class RealClockNeeded(PlacedError):
    """A test with a real server runs on a mock clock."""

    remedy = "Run the test without 'autojump_clock' and 'mock_clock', or use open_app"

    def __init__(self) -> None:
        super().__init__("open_server", "real sockets do not wait for a mock clock")


class TestServer:
    """A server on a free port of this machine. Valid until the block of `open_server` ends."""

    __test__ = False  # pytest collects classes by this name

    def __init__(self, port: int, app: Application, stack: AsyncExitStack) -> None:
        self.url = f"http://127.0.0.1:{port}"
        """Where it serves, without a slash at the end."""

        self.app = app
        self._stack = stack
        self._client: httpx.AsyncClient | None = None

    @property
    def client(self) -> httpx.AsyncClient:
        """The HTTP client of the test (httpx), which keeps cookies; closed with the server.

        Its requests say that they come from the app's own pages. Raises ToolMissing.
        """
        if self._client is None:
            with _needs("httpx"):
                import httpx
            headers = {"origin": self.url}
            client = httpx.AsyncClient(base_url=self.url, headers=headers, trust_env=False)
            self._stack.push_async_callback(client.aclose)
            self._client = client
        assert self._client is not None
        return self._client

    @asynccontextmanager
    async def websocket(
        self, path: str, **options: Any
    ) -> AsyncIterator[trio_websocket.WebSocketConnection]:
        """Open a WebSocket (trio-websocket) for the length of the block.

        It has the cookies of `client`; ``options`` are ``subprotocols``, ``extra_headers``
        and the others of ``trio_websocket.wrap_client_stream``. Raises trio-websocket's
        ConnectionRejected, with ``status_code``, and ToolMissing.
        """
        cookies = {} if self._client is None else dict(self._client.cookies)
        if cookies:
            line = "; ".join(f"{name}={value}" for name, value in cookies.items())
            extra = options.get("extra_headers") or []
            options["extra_headers"] = [*extra, (b"cookie", line.encode())]
        opened = _open_websocket(self.url.removeprefix("http://"), path, options)
        async with ungrouped(opened) as connection:
            yield connection

    async def browse(self, visit: Callable[[Page], T], path: str = "/") -> T:
        """Open ``path`` in Chromium, and return what the plain function ``visit`` does.

        It gets Playwright's page (of its sync API), in a thread; the app runs meanwhile.
        Cancelled, it first ends the step that the browser waits for, within 10 seconds.
        Raises ToolMissing.
        """
        with _needs("playwright", "Run: pip install playwright && playwright install chromium"):
            import playwright.sync_api  # noqa: F401
        return await trio.to_thread.run_sync(_in_chromium, visit, self.url + path)


def open_server(
    root: str | Path, *, render: bool = False, **options: Any
) -> AbstractAsyncContextManager[TestServer]:
    """Serve the project in ``root`` on a free port for the length of the block.

    Yields a `TestServer`. ``options`` are those of `open_app`, with the same rules for the
    database, plugins, variables and errors. A browser needs ``render``. At the end of the block,
    connections and the app are closed as at the end of `fx serve`.

    Raises RealClockNeeded, and the errors of `open_app`.
    """
    return ungrouped(_open(open_app(root, render=render, **options)))


@asynccontextmanager
async def _open(opened: AbstractAsyncContextManager[Client]) -> AsyncIterator[TestServer]:
    if isinstance(trio.lowlevel.current_clock(), trio.testing.MockClock):
        raise RealClockNeeded
    async with opened as client:
        with socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG) as listening:
            listening.setblocking(False)
            stop = trio.Event()
            serve = partial(
                run_server,
                _Served(client.app),
                make_config(ServeOptions(app="")),
                sockets=Sockets([], [listening]),
                stop=stop,
            )
            async with trio.open_nursery() as nursery:
                await nursery.start(serve)
                async with AsyncExitStack() as stack:
                    yield TestServer(listening.getsockname()[1], client.app, stack)
                stop.set()


class _Served:
    """The app without its lifespan, which `open_app` runs already."""

    def __init__(self, app: Application) -> None:
        self._app = app
        self.state = app.state

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            return await self._app(scope, receive, send)
        for stage in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{stage}.complete"})
        return None


@asynccontextmanager
async def _open_websocket(
    host: str, path: str, options: dict[str, Any]
) -> AsyncIterator[trio_websocket.WebSocketConnection]:
    """Open a WebSocket whose socket is closed in any case, also after a rejected handshake."""
    with _needs("trio-websocket"):
        from trio_websocket import HandshakeError, wrap_client_stream

    address, _, port = host.partition(":")
    rejections: list[Exception] = []
    async with await trio.open_tcp_stream(address, int(port)) as stream:
        try:
            async with trio.open_nursery() as nursery:  # of the task that reads
                wrap = partial(wrap_client_stream, nursery, stream, host, path)
                async with await wrap(**options) as connection:
                    yield connection
                nursery.cancel_scope.cancel()
        except* HandshakeError as group:
            rejections += group.exceptions
    if rejections:
        raise rejections[0]


@contextmanager
def _needs(name: str, remedy: str = 'Run: pip install "fxtrio[test]"') -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise ToolMissing(name, remedy) from error


def _in_chromium(visit: Callable[[Page], T], url: str) -> T:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium
        own = Path(chromium.executable_path).exists()
        system = next(filter(None, map(shutil.which, _BROWSERS)), None)
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        with chromium.launch(
            executable_path=None if own else system, args=["--no-sandbox"] if root else []
        ) as browser:
            page = browser.new_page()
            page.set_default_timeout(_PATIENCE)
            page.goto(url)
            return visit(page)
