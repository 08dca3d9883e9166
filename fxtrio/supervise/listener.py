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

from fxtrio.http1.opening import Stream
from fxtrio.supervise.addresses import Addresses

_log = logging.getLogger("fx.server")

_BURST = 64
"""Connections taken in one turn."""

_EXHAUSTED_PAUSE = 0.1
"""Seconds to wait when the system has no descriptors or memory left."""

_QUIET = 60.0
"""Seconds between two lines of the log about addresses with too many connections."""

_EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS}

Serve = Callable[[Stream], Awaitable[None]]


class Acceptor:
    """Counts the connections of one worker, in all and per address, and has them served."""

    def __init__(self, addresses: Addresses, capacity: int, serve: Serve) -> None:
        self._room = trio.Semaphore(capacity)
        self._addresses = addresses
        self._serve = serve
        self._warned_at = -_QUIET

    async def run(
        self, listening: socket.socket, tls: SSLContext | None, connections: trio.Nursery
    ) -> None:
        """Accept on a non-blocking socket until cancelled. Every connection is a task."""
        while True:
            await self._room.acquire()
            self._room.release()
            await trio.lowlevel.wait_readable(listening)
            try:
                self._take_waiting(listening, tls, connections)
            except OSError as error:
                if error.errno not in _EXHAUSTED:
                    raise
                _log.error("no connection can be accepted: %s", error)
                await trio.sleep(_EXHAUSTED_PAUSE)

    def _take_waiting(
        self, listening: socket.socket, tls: SSLContext | None, connections: trio.Nursery
    ) -> None:
        for _ in range(_BURST):
            try:
                self._room.acquire_nowait()
            except trio.WouldBlock:
                return
            try:
                accepted, name = listening.accept()
            except (BlockingIOError, ConnectionAbortedError):
                self._room.release()
                return
            except OSError:
                self._room.release()
                raise
            address = name[0] if isinstance(name, tuple) else ""
            if not self._addresses.enter(address):
                self._room.release()
                accepted.close()
                self._warn(address)
                continue
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
            self._room.release()
            self._addresses.leave(address)

    def _warn(self, address: str) -> None:
        if trio.current_time() - self._warned_at >= _QUIET:
            self._warned_at = trio.current_time()
            _log.warning("%s has too many connections: more are closed", address)
