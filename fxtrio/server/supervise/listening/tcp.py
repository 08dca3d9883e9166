"""One TCP socket from ``host:port``. Imports very little: `fx dev` starts with it."""

from __future__ import annotations

import socket

from fxtrio.errors import PlacedError

_LAST_PORT = 65535


class BindFailed(PlacedError):
    """An address to serve on cannot be used; see ``__cause__``."""

    remedy = "Choose another address, or free this one"

    def __init__(self, bind: str, cause: str) -> None:
        super().__init__(f"bind {bind!r}", cause)
        self.bind = bind


def bind_tcp(bind: str) -> socket.socket:
    """Return a socket that is bound to ``host:port`` and does not listen yet.

    Raises BindFailed.
    """
    wrong = wrong_address(bind)
    if wrong:
        raise BindFailed(bind, wrong)
    host, _, port = bind.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    try:
        found = socket.getaddrinfo(
            host or None, int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, address = found[0]
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
        except OSError:
            bound.close()
            raise
    except OSError as error:
        raise BindFailed(bind, error.strerror or str(error)) from error
    return bound


def wrong_address(bind: str) -> str:
    """Return why text is no address to serve on, of any kind; "" for one that may be used."""
    if bind == "systemd":
        return ""
    if bind.startswith("fd://"):
        return "" if bind[5:].isdecimal() else "it has no number, such as 'fd://3'"
    if bind.startswith("unix:"):
        return "" if bind[5:] else "it has no path, such as 'unix:/run/shop.sock'"
    _, colon, port = bind.rpartition(":")
    if not colon or not port.isdecimal():
        return "it has no port, such as '127.0.0.1:8000'"
    return f"the port is above {_LAST_PORT}" if int(port) > _LAST_PORT else ""
