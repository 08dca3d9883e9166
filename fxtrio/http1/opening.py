"""The first moments of a connection: the TLS handshake, and who is at the other end."""

from __future__ import annotations

import attrs
import trio
from hypercorn.config import Config
from hypercorn.utils import parse_socket_addr

Address = tuple[str, int]
Stream = trio.SSLStream[trio.SocketStream] | trio.SocketStream


@attrs.frozen
class Peer:
    """Both ends of an open connection, as ASGI scopes have them. None for unix sockets."""

    client: Address | None
    server: Address | None
    secure: bool
    socket: trio.socket.SocketType
    http2: bool
    """Whether HTTP/2 was agreed on in the TLS handshake."""


def show_address(address: Address | None) -> str:
    """Return ``host:port`` for the log; without a port that is 0, and "-" for a unix socket."""
    if address is None:
        return "-"
    host, port = address
    if not port:  # a proxy told of it
        return host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def open_peer(stream: Stream, config: Config) -> Peer | None:
    """Complete the TLS handshake, if any, and return who is there.

    None when the client left, or did not complete the handshake in time.
    """
    http2 = secure = False
    if isinstance(stream, trio.SSLStream):
        secure = True
        try:
            with trio.fail_after(config.ssl_handshake_timeout):
                await stream.do_handshake()
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError):
            return None
        http2 = stream.selected_alpn_protocol() == "h2"
        socket = stream.transport_stream.socket
    else:
        socket = stream.socket
    try:
        client = parse_socket_addr(socket.family, socket.getpeername())
        server = parse_socket_addr(socket.family, socket.getsockname())
    except OSError:
        return None
    return Peer(client, server, secure, socket, http2)
