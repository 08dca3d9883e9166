"""Accepts connections on listening sockets, as many as a worker may have.

Those that wait are taken together: with one per turn of the event loop, each turn is
longer by the connections taken before, and the last of a crowd waits for seconds.
"""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Awaitable, Callable
from ssl import SSLContext

import trio

from fxtrio.log_limit import lines_of_clients, more_like_it
from fxtrio.server.http1.tls import Stream
from fxtrio.server.supervise.listening.fd_limit import OpenFiles
from fxtrio.server.supervise.listening.per_ip_limit import Addresses

_log = logging.getLogger("fx.server")

_BURST = 64
"""Connections taken in one turn."""

_EXHAUSTED_PAUSE = 0.1
"""Seconds to wait when the system has no descriptors or memory left."""

_LOOK_AGAIN = 0.25
"""Seconds after which files are counted again, if no connection has closed before."""

_EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS}

Serve = Callable[[Stream], Awaitable[None]]


class Acceptor:
    """Counts the connections of one worker, in total and per address, and has them served.

    Further connections wait in the kernel. Exhausted limits are logged once a minute.
    """

    def __init__(self, addresses: Addresses, capacity: int, files: OpenFiles, serve: Serve) -> None:
        self._capacity = capacity
        self._files = files
        self._addresses = addresses
        self._serve = serve
        self._open = 0
        self._waits_for_close = trio.lowlevel.ParkingLot()
        self._repeats = lines_of_clients()

    async def run(
        self, listening: socket.socket, tls: SSLContext | None, connections: trio.Nursery
    ) -> None:
        """Accept on a non-blocking socket until cancelled. Every connection is a task."""
        while True:
            await self._wait_for_capacity()
            await trio.lowlevel.wait_readable(listening)
            try:
                self._take_waiting(listening, tls, connections)
            except OSError as error:
                if error.errno not in _EXHAUSTED:
                    raise
                self._log_limited(logging.ERROR, "no connection can be accepted: %s", error)
                await trio.sleep(_EXHAUSTED_PAUSE)

    async def _wait_for_capacity(self) -> None:
        while self._room() <= 0:
            if self._open >= self._capacity:
                self._log_limited(
                    logging.WARNING,
                    "all %d connections are in use: further clients wait",
                    self._open,
                )
                await self._waits_for_close.park()
                continue
            self._log_limited(
                logging.WARNING,
                "nearly all of the %s files that the system allows are open, %d of them "
                "connections: further clients wait. Raise the limit (ulimit -n, LimitNOFILE= of "
                "systemd)",
                self._files.granted,
                self._open,
            )
            with trio.move_on_after(_LOOK_AGAIN):
                await self._waits_for_close.park()

    def _room(self) -> int:
        return min(self._capacity - self._open, self._files.room(self._open))

    def _take_waiting(
        self, listening: socket.socket, tls: SSLContext | None, connections: trio.Nursery
    ) -> None:
        for _ in range(min(_BURST, self._room())):
            try:
                accepted, name = listening.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            address = name[0] if isinstance(name, tuple) else ""
            if not self._addresses.enter(address):
                accepted.close()
                self._log_limited(
                    logging.WARNING, "%s has too many connections: further ones are closed", address
                )
                continue
            self._open += 1
            connections.start_soon(self._handle, accepted, address, tls)

    async def _handle(self, accepted: socket.socket, address: str, tls: SSLContext | None) -> None:
        plain = trio.SocketStream(trio.socket.from_stdlib_socket(accepted))
        stream: Stream = plain
        if tls is not None:
            stream = trio.SSLStream(plain, tls, server_side=True, https_compatible=True)
        try:
            await self._serve(stream)
        finally:
            plain.socket.close()
            self._addresses.leave(address)
            self._open -= 1
            if self._waits_for_close:
                self._waits_for_close.unpark_all()

    def _log_limited(self, level: int, line: str, *values: object) -> None:
        untold = self._repeats.again(line, trio.current_time())
        if untold is not None:
            _log.log(level, line + more_like_it(untold), *values)
