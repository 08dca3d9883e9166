"""Which hosts `fx dev` answers for: those that no other site can have pointed at this machine.

A site may let its own name lead to 127.0.0.1 (DNS rebinding). Its pages then are of the same
origin as the development server, which knows nothing of that name unless it looks.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

from starlette.types import ASGIApp, Receive, Scope, Send

from fxtrio.config import Config
from fxtrio.develop.report.inside import Inside
from fxtrio.develop.serving.dev_app import DevelopedApp, Hot

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]*)?")
_QUOTED = 100  # characters of a host that is rejected
_SAME_SITE = (b"same-origin", b"none")


def development_app(
    app: ASGIApp,
    config: Config,
    *,
    modules: Hot,
    host: str,
    entry: bool = True,
    inside: Inside | None = None,
) -> HostGuard:
    """Return ``app`` as `fx dev` serves it: for known hosts, and with pages that take updates.

    ``host`` is that of the command line; ``entry`` and ``inside`` as in `DevelopedApp`.
    """
    developed = DevelopedApp(app, hot=modules, base_url=config.base_url, entry=entry, inside=inside)
    return HostGuard(developed, (host, *config.dev.hosts))


def is_known(host: str, *, own: str, allowed: Sequence[str]) -> bool:
    """Return whether a ``Host`` header names this machine.

    ``own`` is the address that the connection came to, which is no other machine's;
    ``allowed`` holds names without a port, those that begin with a dot for all below them.
    """
    match = _HOST.fullmatch(host)
    if match is None:
        return False
    name = match[1].lower().removesuffix(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    if any(name == entry or (entry[0] == "." and name.endswith(entry)) for entry in allowed):
        return True
    try:
        address = ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return address.is_loopback or (str(address) == own and not address.is_unspecified)


class HostGuard:
    """Lets requests for known hosts pass, and answers all others with 403."""

    def __init__(self, app: DevelopedApp, hosts: Sequence[str]) -> None:
        """``hosts`` are the host of the command and the setting ``dev.hosts``."""
        self._app = app
        self._hosts = [host.lower() for host in hosts]
        self._folders = app.folder, app.inside_folder
        self.state = app.state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request or WebSocket, or refuse it."""
        problem = "" if scope["type"] == "lifespan" else self._find_problem(scope)
        if not problem:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await _reject(send, "http", problem)
        elif "websocket.http.response" in (scope.get("extensions") or {}):
            await _reject(send, "websocket.http", problem)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _find_problem(self, scope: Scope) -> str:
        """Return why a request is rejected, with the remedy; "" when it is not."""
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        own = (scope.get("server") or ("",))[0]
        if len(hosts) != 1:
            return "fx dev: the request names no host, or more than one. Send one Host header."
        if not is_known(hosts[0], own=own, allowed=self._hosts):
            return (
                f"fx dev: {hosts[0][:_QUOTED]!r} is not a name of this machine. To allow it, "
                'add it to fx.config.json: {"dev": {"hosts": ["NAME"]}}.'
            )
        if scope["path"].startswith(self._folders) and _is_foreign(headers, hosts[0]):
            return "fx dev: this is for the app's own pages. Open the app itself."
        return ""


def _is_foreign(headers: list[tuple[bytes, bytes]], host: str) -> bool:
    """Return whether a browser says that a page of another origin asks."""
    for name, value in headers:
        if name == b"sec-fetch-site" and value not in _SAME_SITE:
            return True
        if name == b"origin" and value.decode("latin-1").partition("://")[2] != host:
            return True
    return False


async def _reject(send: Send, kind: str, problem: str) -> None:
    body = f"{problem}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", b"%d" % len(body)),
        (b"x-content-type-options", b"nosniff"),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": f"{kind}.response.start", "status": 403, "headers": headers})
    await send({"type": f"{kind}.response.body", "body": body})
