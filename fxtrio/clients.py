"""Which addresses are one client, and which stand for many."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

_CACHED = 4096


@lru_cache(maxsize=_CACHED)
def network_of(address: str) -> str:
    """Return an address, or the network of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:  # of a test, or a unix socket
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


@lru_cache(maxsize=_CACHED)
def public_network_of(address: str) -> str:
    """Return the same of an address of the Internet; "" for all others.

    Those of this machine and of private networks may be a proxy, which stands for many.
    """
    network = network_of(address)
    try:
        is_public = ipaddress.ip_network(network).is_global
    except ValueError:
        return ""
    return network if is_public else ""


def client_network(scope: Mapping[str, Any]) -> str:
    """Return `public_network_of` the client of an ASGI scope; "" where it has no address."""
    client = scope.get("client")
    return "" if client is None else public_network_of(client[0])
