"""The first moments of a connection: the TLS handshake, and who is at the other end."""

from __future__ import annotations

import ssl
from contextlib import suppress

import msgspec
import trio

from fxtrio.errors import Signal

Address = tuple[str, int]
_ALERT_TIME = 1.0

Stream = trio.SSLStream[trio.SocketStream] | trio.SocketStream


class HandshakeFailed(Signal):
    """TLS was not agreed on. ``args`` are who the client is, and why."""

    def __init__(self, client: Address | None, reason: str) -> None:
        super().__init__(show_address(client), reason)


class Peer(msgspec.Struct, frozen=True):
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
    """Complete the TLS handshake, if any, and return who is there; None when the client left.

    Raises HandshakeFailed.
    """
    secure = isinstance(stream, trio.SSLStream)
    socket = (stream.transport_stream if isinstance(stream, trio.SSLStream) else stream).socket
    try:
        client, server = _address(socket.getpeername()), _address(socket.getsockname())
    except OSError:
        return None
    http2 = False
    if isinstance(stream, trio.SSLStream):
        try:
            with trio.fail_after(handshake_time):
                await stream.do_handshake()
        except trio.TooSlowError:
            raise HandshakeFailed(client, f"it took longer than {handshake_time:g} s") from None
        except trio.BrokenResourceError as error:
            cause = error.__cause__
            if not isinstance(cause, ssl.SSLError) or isinstance(cause, ssl.SSLEOFError):
                return None
            await _send_alert(stream)
            reason = (cause.reason or str(cause)).replace("_", " ").lower()
            raise HandshakeFailed(client, reason) from None
        except trio.ClosedResourceError:
            return None
        http2 = stream.selected_alpn_protocol() == "h2"
    return Peer(client, server, secure, socket, http2)


async def _send_alert(stream: trio.SSLStream[trio.SocketStream]) -> None:
    """Tell the client what OpenSSL would: trio drops it with the handshake."""
    alert = stream._outgoing.read()
    with trio.move_on_after(_ALERT_TIME), suppress(trio.BrokenResourceError):
        await stream.transport_stream.send_all(alert)
        await stream.transport_stream.send_eof()


def _address(name: object) -> Address | None:
    """Return host and port of a socket's name; None of a unix socket's."""
    return (str(name[0]), int(name[1])) if isinstance(name, tuple) else None
