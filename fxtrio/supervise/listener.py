"""A listener that stops accepting while a worker has as many connections as it may."""

from __future__ import annotations

from collections import Counter

import trio

from fxtrio.http1.limits import ServerLimits


class Admission:
    """Counts the connections of one worker, in all and per address."""

    def __init__(self, limits: ServerLimits, capacity: int) -> None:
        self._slots = trio.Semaphore(capacity)
        self._most = limits.connections_per_address
        self._addresses: Counter[str] = Counter()
        self._held: dict[trio.SocketStream, str] = {}

    async def wait_for_room(self) -> None:
        """Take a place, waiting for one; `release` gives it back."""
        await self._slots.acquire()

    def admit(self, stream: trio.SocketStream) -> bool:
        """Count a connection in by address; False when that address has enough of them."""
        address = "" if self._most is None else _address(stream)
        if not address or self._most is None:
            return True
        if self._addresses[address] >= self._most:
            return False
        self._addresses[address] += 1
        self._held[stream] = address
        return True

    def release(self, stream: trio.SocketStream | None) -> None:
        """Give a place back, and what `admit` counted for ``stream``."""
        self._slots.release()
        address = None if stream is None else self._held.pop(stream, None)
        if address is not None:
            self._addresses[address] -= 1
            if not self._addresses[address]:
                del self._addresses[address]


class CappedListener(trio.abc.Listener[trio.SocketStream]):
    """Accepts for ``admission``; a connection that it refuses is closed unread."""

    def __init__(self, listener: trio.SocketListener, admission: Admission) -> None:
        self._listener = listener
        self._admission = admission

    async def accept(self) -> trio.SocketStream:
        """Wait for room, then for a connection."""
        while True:
            await self._admission.wait_for_room()
            try:
                stream = await self._listener.accept()
            except BaseException:
                self._admission.release(None)
                raise
            if self._admission.admit(stream):
                return stream
            self._admission.release(None)
            await trio.aclose_forcefully(stream)

    async def aclose(self) -> None:
        """Close the socket."""
        await self._listener.aclose()


def _address(stream: trio.SocketStream) -> str:
    try:
        name = stream.socket.getpeername()
    except OSError:  # gone already
        return ""
    return name[0] if isinstance(name, tuple) else ""
