"""Connections of coredis that resolve host names in fxtrio's own threads.

coredis uses trio's default threads, which belong to the application: while it occupies all
of them, a lost connection to a named host could not be reestablished.
"""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from ipaddress import ip_address

import trio
from anyio import connect_tcp
from anyio.abc import ByteStream, SocketAttribute
from coredis.connection import TCPConnection

from fxtrio.limiters import limiter_of


class OwnThreadsConnection(TCPConnection):
    """A coredis connection with its own name resolution."""

    async def _connect(self) -> ByteStream:
        """Connect to the first address of the host that takes it; each has a part of the time.

        Raises OSError, and trio.TooSlowError.
        """
        host, port = self.location.host, self.location.port
        limit = self._connect_timeout
        assert limit is not None  # `RedisServer` sets one
        with trio.fail_after(limit):
            addresses = await _look_up(host, port)
        failed: Exception = OSError(f"{host} has no address")
        for address in addresses:
            try:
                with trio.fail_after(limit / len(addresses)):
                    stream = await _open(address, port, host, self._ssl_context)
            except (OSError, trio.TooSlowError) as error:
                failed = error
                continue
            self._watch_over(stream)
            return stream
        raise failed

    def _watch_over(self, stream: ByteStream) -> None:
        raw = stream.extra(SocketAttribute.raw_socket)
        if self._socket_keepalive:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for option, value in self._socket_keepalive_options.items():
                raw.setsockopt(socket.IPPROTO_TCP, option, value)


async def _open(address: str, port: int, host: str, tls: ssl.SSLContext | None) -> ByteStream:
    if tls is None:
        return await connect_tcp(address, port)
    return await connect_tcp(
        address,
        port,
        ssl_context=tls,
        tls_hostname=host,
        tls_standard_compatible=False,  # Redis ends without a farewell
    )


async def _look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a host in the system's order. Raises OSError."""
    with suppress(ValueError):
        return [str(ip_address(host))]
    found = await trio.to_thread.run_sync(
        lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM),
        abandon_on_cancel=True,  # which nothing else ends
        limiter=limiter_of("names"),
    )
    return [*dict.fromkeys(str(address[0]) for *_, address in found)]
