"""The first moments of a connection: the TLS handshake, and who is at the other end."""

from __future__ import annotations

import attrs
import trio

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


async def open_peer(stream: Stream, handshake_time: float) -> Peer | None:
    """Complete the TLS handshake, if any, and return who is there.

    None when the client left, or did not complete the handshake in time.
    """
    http2 = secure = False
    if isinstance(stream, trio.SSLStream):
        secure = True
        try:
            with trio.fail_after(handshake_time):
                await stream.do_handshake()
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError):
            return None
        http2 = stream.selected_alpn_protocol() == "h2"
        socket = stream.transport_stream.socket
    else:
        socket = stream.socket
    try:
        client = _address(socket.getpeername())
        server = _address(socket.getsockname())
    except OSError:
        return None
    return Peer(client, server, secure, socket, http2)


def _address(name: object) -> Address | None:
    """Return host and port of a socket's name; None of a unix socket's."""
    return (str(name[0]), int(name[1])) if isinstance(name, tuple) else None
