"""Applies the client address and scheme of trusted proxies: ``X-Forwarded-For`` and ``-Proto``.

An ASGI wrapper, so that HTTP/1.1, HTTP/2 and WebSocket are treated alike. The host
is never taken from a proxy's header.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Iterable
from functools import lru_cache
from typing import Any

from fxtrio.errors import PlacedError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Client = tuple[str, int]
Application = Callable[..., Awaitable[None]]

_schemes = {"http": {"http": "http", "https": "https"}, "websocket": {"http": "ws", "https": "wss"}}


class ProxyUnknown(PlacedError):
    """A trusted proxy is no valid address; ``name`` is the invalid value."""

    remedy = "Write '10.0.0.5', '10.0.0.0/8', 'unix' for unix sockets, or '*' for everybody"

    def __init__(self, name: str) -> None:
        super().__init__(f"proxy {name!r}", "it is neither an address nor a network")
        self.name = name


class Proxies:
    """The addresses of trusted proxies.

    ``names`` are addresses, networks, ``unix`` for unix sockets and ``*`` for all peers.
    Raises ProxyUnknown for any other value.
    """

    def __init__(self, names: Iterable[str]) -> None:
        others = set(names)
        self._everybody = "*" in others
        self.unix = self._everybody or "unix" in others
        """Whether peers on unix sockets are trusted."""
        self._networks = [_network(name) for name in sorted(others - {"*", "unix"})]
        self.has = lru_cache(maxsize=1024)(self._has)
        """Return whether an address, as text, is one of them."""

    def _has(self, address: str) -> bool:
        if self._everybody:
            return True
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        # A client of a socket for both versions of IP: ::ffff:10.0.0.5 is 10.0.0.5.
        plain = getattr(parsed, "ipv4_mapped", None) or parsed
        return any(plain in network for network in self._networks)

    def believes(self, client: Client | None) -> bool:
        """Return whether the connected peer is trusted; None is a unix socket."""
        return self.unix if client is None else self.has(client[0])

    def reported(self, headers: Iterable[tuple[bytes, bytes]]) -> Client | None:
        """Return the client that proxies report, None when they report none."""
        addresses: list[str] = []
        for name, value in headers:
            if name == b"x-forwarded-for":
                addresses += value.decode("latin-1").split(",")
        # Each proxy appends whom it talked to: the last one that is no proxy is the client.
        client = None
        for address in reversed(addresses):
            parsed = _parse(address.strip())
            if parsed is None:
                break  # earlier entries are not trusted either
            client = parsed
            if not self.has(client[0]):
                break
        return client


class ProxyHeaders:
    """Calls ``app`` with the client and scheme that the nearest trusted proxies report."""

    def __init__(self, app: Application, proxies: Proxies) -> None:
        self.state = getattr(app, "state", None)
        self._app = app
        self._proxies = proxies

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one scope."""
        if scope["type"] in _schemes and self._proxies.believes(scope["client"]):
            self._believe(scope)
        await self._app(scope, receive, send)

    def _believe(self, scope: Any) -> None:
        for name, value in scope["headers"]:
            if name == b"x-forwarded-proto":
                # The last is the nearest proxy's own.
                proto = value.decode("latin-1").rpartition(",")[2].strip().lower()
                scope["scheme"] = _schemes[scope["type"]].get(proto, scope["scheme"])
        client = self._proxies.reported(scope["headers"])
        if client is not None:
            scope["client"] = client


def _network(name: str) -> Network:
    try:
        return ipaddress.ip_network(name, strict=False)
    except ValueError:
        raise ProxyUnknown(name) from None


def _parse(text: str) -> Client | None:
    """Return address and port (0 if missing) of one entry; None if it is no address."""
    host, port = text, ""
    if text.startswith("["):
        host, _, port = text[1:].partition("]")
        port = port.removeprefix(":")
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    if "%" in host:
        return None  # a zone is arbitrary text, and meaningless on other machines
    try:
        return str(ipaddress.ip_address(host)), int(port) if port.isdecimal() else 0
    except ValueError:
        return None
