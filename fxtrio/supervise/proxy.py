"""Believes what trusted proxies say about the client: ``X-Forwarded-For`` and ``-Proto``.

An ASGI wrapper, so that HTTP/1.1, HTTP/2 and WebSocket are treated alike. The host
is never taken from a proxy's header.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Iterable
from functools import lru_cache
from typing import Any

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Application = Callable[..., Awaitable[None]]

_schemes = {"http": {"http": "http", "https": "https"}, "websocket": {"http": "ws", "https": "wss"}}


class ProxyHeaders:
    """Gives ``app`` the client and scheme that the nearest trusted proxies report."""

    def __init__(self, app: Application, trusted: Iterable[str]) -> None:
        names = set(trusted)
        self.state = getattr(app, "state", None)
        self._app = app
        self._everybody = "*" in names
        self._unix = self._everybody or "unix" in names
        self._networks = [
            ipaddress.ip_network(name, strict=False) for name in names - {"*", "unix"}
        ]
        self._trusts = lru_cache(maxsize=1024)(self._is_trusted)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one scope."""
        if scope["type"] in _schemes:
            client = scope["client"]
            if self._unix if client is None else self._trusts(client[0]):
                self._believe(scope)
        await self._app(scope, receive, send)

    def _believe(self, scope: Any) -> None:
        addresses: list[str] = []
        for name, value in scope["headers"]:
            if name == b"x-forwarded-for":
                addresses += value.decode("latin-1").split(",")
            elif name == b"x-forwarded-proto":
                # The last is the nearest proxy's own.
                proto = value.decode("latin-1").rpartition(",")[2].strip().lower()
                scope["scheme"] = _schemes[scope["type"]].get(proto, scope["scheme"])
        # Each proxy appends whom it talked to: the last one that is no proxy is the client.
        client = None
        for address in reversed(addresses):
            client = _parse(address.strip())
            if client is None or not self._trusts(client[0]):
                break
        if client is not None:
            scope["client"] = client

    def _is_trusted(self, address: str) -> bool:
        if self._everybody:
            return True
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._networks)


def _parse(text: str) -> tuple[str, int] | None:
    """Return address and port (0 when it is not told) of one entry; None when it is no address."""
    host, port = text, ""
    if text.startswith("["):
        host, _, port = text[1:].partition("]")
        port = port.removeprefix(":")
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    try:
        return str(ipaddress.ip_address(host)), int(port) if port.isdigit() else 0
    except ValueError:
        return None
