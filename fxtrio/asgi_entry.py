"""Where ASGI connections enter the app, in front of all middleware.

Adapts what a server passes to what the app expects: another server than ours is mended, and
the path has the prefix that the app is mounted at.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any, AnyStr
from urllib.parse import quote

from starlette.routing import Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fxtrio.asgi_extensions import OWN_SERVER, ROOT, SAFE_IN_PATHS
from fxtrio.compression.middleware import Compression
from fxtrio.config import Config
from fxtrio.db.startup_errors import telling_shortly
from fxtrio.log import open_own_log
from fxtrio.serve.mounts import Mounts
from fxtrio.serve.request import csrf
from fxtrio.serve.request_span import serve_in_span
from fxtrio.spans import Spans

_SPANNED = "fx.spanned"
"""Key in the scope of a request whose span is open: the `Spans` of the apps that opened one."""

_STARTS = frozenset({"http.response.start", "websocket.http.response.start"})


class Entrance:
    """Sends the lifespan to Starlette's router, and everything else to the app.

    What the app answers is compressed on its way out.
    """

    def __init__(
        self,
        app: ASGIApp,
        router: ASGIApp,
        compression: Compression | None,
        spans: Spans,
        base_url: str = "",
    ) -> None:
        """``base_url`` is the setting: redirects of what is below it stay there."""
        self._app = app
        self._base_url = base_url
        self._base = quote(base_url, safe=SAFE_IN_PATHS).encode()
        # Nearly all requests come to the root, and need not be asked where.
        at_root: Any = app.plain if isinstance(app, Mounts) else app
        # Bound: a method is called in less time than an object.
        self._at_root: ASGIApp = at_root.__call__
        self._spans = spans
        self._router = router
        self._compression = compression

    # Without a frame of its own, which each request would pay for.
    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one connection of the server, or the lifespan."""
        kind = scope["type"]
        if kind == "lifespan":
            if OWN_SERVER not in scope.get("extensions", {}):
                prepare_server()
            return self._router(scope, receive, telling_shortly(send))
        if self._spans.listeners and self._spans not in scope.get(_SPANNED, ()):
            seen = {**scope, _SPANNED: (*scope.get(_SPANNED, ()), self._spans)}
            return serve_in_span(self, self._spans, seen, receive, send)
        if scope.get("root_path"):
            scope = below_root(scope)
            root = scope[ROOT]
            below = _is_inside(scope["path"], root + self._base_url)
            send = _leading_below(root, self._base if below else b"", send)
            app = self._app
        else:
            # Routes of the application may be beside the base, and redirect to each other.
            if self._base and _is_inside(scope["path"], self._base_url):
                send = _leading_below("", self._base, send)
            app = self._at_root
        if self._compression is not None and kind == "http":
            send = self._compression.sending(scope, send)
        return app(scope, receive, send)


def below_root(scope: Scope) -> Scope:
    """Return the scope of a request to a mounted app, with a path that begins with the prefix.

    By the rule of ASGI it does. Proxies that take the prefix off, and servers whose options say
    of it (``--root-path``), give a path without it; one that begins with it has it.
    """
    root = "/" + scope["root_path"].strip("/")
    path: str = scope["path"]
    if root == "/" or path == "*":
        return {**scope, "root_path": "", ROOT: ""}
    if _is_inside(path, root):
        return {**scope, "root_path": root, ROOT: root}
    raw = scope.get("raw_path")
    return {
        **scope,
        "root_path": root,
        ROOT: root,
        "path": root + path,
        "raw_path": None if raw is None else quote(root, safe=SAFE_IN_PATHS).encode() + raw,
    }


def _leading_below(root: str, base: bytes, send: Send) -> Send:
    """Return a ``send`` by which redirects to a path stay below ``root`` and ``base``."""
    prefix = quote(root, safe=SAFE_IN_PATHS).encode()

    async def sending(message: Message) -> None:
        if message["type"] in _STARTS and message.get("headers"):
            headers = [_below(prefix, base, *one) for one in message["headers"]]
            message = {**message, "headers": headers}
        await send(message)

    return sending


def _below(prefix: bytes, base: bytes, name: bytes, value: bytes) -> tuple[bytes, bytes]:
    if name.lower() != b"location" or not value.startswith(b"/") or value.startswith(b"//"):
        return name, value
    path = value.partition(b"?")[0].partition(b"#")[0]
    if prefix and _is_inside(path, prefix):
        return name, value
    return name, prefix + (value if _is_inside(path, base) else _joined(base, value))


def _is_inside(path: AnyStr, prefix: AnyStr) -> bool:
    slash = "/" if isinstance(prefix, str) else b"/"
    return path == prefix or path.startswith(prefix + slash)


def _joined(base: bytes, value: bytes) -> bytes:
    """Return a path below the base, whose home page has no slash at the end."""
    return base + (value[1:] if value[:2] in (b"/", b"/?", b"/#") else value)


def reject_start(error: Exception, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
    """Run the lifespan of an app that cannot be created. Raises ``error``, after reporting it."""

    @asynccontextmanager
    async def fail(_: object) -> AsyncIterator[None]:
        raise error
        yield

    return Router(lifespan=fail)(scope, receive, telling_shortly(send))


def prepare_server() -> None:
    """Mend a server that is not ours, and give it our log."""
    if "hypercorn.trio.tcp_server" in sys.modules:
        # Heavy, and only needed beside Hypercorn's own worker, which is not safe without it.
        from fxtrio.server.hypercorn_patches import install_guard

        install_guard()
    open_own_log()


def compression_of(config: Config) -> Compression | None:
    """Return what compresses responses; None where the settings turn it off."""
    mode = config.compression
    if mode == "off":
        return None
    tokens = frozenset({csrf.COOKIE.encode(), csrf.SECURE_COOKIE.encode()})
    return Compression(mode, common_cookies=tokens)
