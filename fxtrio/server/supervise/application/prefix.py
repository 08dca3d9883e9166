"""Restores the prefix that a proxy has stripped from the paths that it forwards.

An ASGI wrapper around the application, for `fx serve --root-path-stripped`. Accepting paths
with and without the prefix (`fxtrio.asgi_entry.below_root`) would let ``/pre/pre/admin``,
which the proxy forwards as ``/pre/admin``, bypass its rules for ``/pre/admin``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

Application = Callable[..., Awaitable[None]]

_SAFE = "/!$&'()*+,;=:@"


class StrippedPrefix:
    """Calls ``app`` with paths that start with ``root``, as ASGI requires."""

    def __init__(self, app: Application, root: str) -> None:
        self.state = getattr(app, "state", None)
        self._app = app
        self._root = "/" + root.strip("/")
        self._raw = quote(self._root, safe=_SAFE).encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one scope."""
        if scope["type"] in ("http", "websocket") and scope["path"] != "*":
            scope["path"] = self._root + scope["path"]
            if scope.get("raw_path") is not None:
                scope["raw_path"] = self._raw + scope["raw_path"]
        await self._app(scope, receive, send)
