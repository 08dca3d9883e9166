"""How many connections an address has open, and whether it may open another.

Used by the listener, before anything of a connection is read.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from functools import lru_cache

from fxtrio.server.supervise.application.proxy_headers import Proxies

PUBLIC_MOST = 1000
"""Connections of one public address, where no number was chosen. Thousands of people may
share an address, but hardly one worker; a tenth of a worker's room is left to one attacker."""

_SITE = 64
"""Bits of an IPv6 address that its owner cannot choose: a site owns all addresses below."""


class Addresses:
    """Counts connections by address, IPv6 ones by their first 64 bits.

    ``most`` is the limit of every address. None: `PUBLIC_MOST` for each public address,
    and no limit for those of this machine, of private networks, and of ``proxies``,
    which represent many clients each.
    """

    def __init__(self, most: int | None, proxies: Proxies) -> None:
        self._most = most
        self._open: Counter[str] = Counter()
        self._place = lru_cache(maxsize=4096)(_place)
        self._is_free = lru_cache(maxsize=4096)(lambda address: _is_private(address, proxies))

    def enter(self, address: str) -> bool:
        """Count a connection, and return True; False if the address has reached its limit.

        After True the caller must call `leave`. "" is a client on a unix socket.
        """
        if not address:
            return True
        place = self._place(address)
        most = PUBLIC_MOST if self._most is None else self._most
        if self._open[place] >= most and not (self._most is None and self._is_free(address)):
            return False
        self._open[place] += 1
        return True

    def leave(self, address: str) -> None:
        """Count out a connection that has entered."""
        if address:
            place = self._place(address)
            self._open[place] -= 1
            if not self._open[place]:
                del self._open[place]

    def statistics(self) -> dict[str, int]:
        """Return the open connections of each address or IPv6 network."""
        return dict(self._open)


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    parsed = ipaddress.ip_address(address)
    return getattr(parsed, "ipv4_mapped", None) or parsed


def _place(address: str) -> str:
    parsed = _parsed(address)
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network((int(parsed), _SITE), strict=False))


def _is_private(address: str, proxies: Proxies) -> bool:
    return not _parsed(address).is_global or proxies.has(address)
