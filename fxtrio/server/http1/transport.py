"""The byte stream of one connection: read, write, close. Used by whatever is spoken on it.

On a plain socket the descriptor is read and written directly, so that an ordinary
exchange costs one wait, one read and one write. TLS goes through its trio stream.
A write that cannot finish at once is finished under a deadline that starts again
with every byte the client accepts, and at no less than a certain rate. What waits
meanwhile counts for the budget of the process (`fxtrio.send_budget`).
"""

from __future__ import annotations

import os
import select
import struct
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Protocol

import trio

from fxtrio.send_budget import Unread
from fxtrio.server.http1.readiness import Readiness, Watch
from fxtrio.server.http1.request import READ_SIZE

_DIRECT = sys.platform != "win32"  # there a socket is not a file descriptor
_SHORT_READ = 16 * 1024  # until one is full: a smaller buffer is made in less time
_VIEWS = 64  # given to the kernel at once; it takes up to 1024
_DRAIN_TIME = 1.0
_DRAINED_BYTES = 1024 * 1024


class ByteStream(Protocol):
    """What a trio socket stream and a trio TLS stream have in common."""

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send all of ``data``."""
        ...

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """Wait for some bytes; b"" at the end."""
        ...

    async def aclose(self) -> None:
        """Close both ways."""
        ...


class ByteTransport:
    """One client's bytes. ``broken`` once the client can no longer be reached.

    Several tasks may write: what one of them could not finish goes out before
    what the next one brings. One task reads at a time.
    """

    __slots__ = (
        *("_unread", "_flushing", "_pending", "_rate", "_size", "_socket", "_stall"),
        *("_watch", "address", "broken", "ended", "fd", "stream"),
    )

    def __init__(
        self,
        stream: ByteStream,
        socket: trio.socket.SocketType,
        *,
        readiness: Readiness,
        stall: float,
        rate: float,
        address: str = "",
    ) -> None:
        """``stall`` is in seconds, ``rate`` in bytes a second; ``address`` as in `Unread`."""
        self.stream = stream
        self.broken = False
        self.ended = False  # the client has sent all it will
        self.fd = socket.fileno() if _DIRECT and isinstance(stream, trio.SocketStream) else -1
        self._watch: Watch | None = readiness.watch(self.fd) if self.fd >= 0 else None
        self._size = _SHORT_READ
        self._socket = socket
        self._stall = stall
        self._rate = rate
        self.address = address
        self._unread: Unread | None = None  # from the first time that something waits
        # Views: what waits is not copied. An empty deque would take 600 bytes of each connection.
        self._pending: list[memoryview] = []
        self._flushing: trio.Lock | None = None

    async def read(self) -> bytes:
        """Wait for bytes; b"" when there will be no more."""
        watch = self._watch
        if watch is None:
            return await self._read_stream()
        try:
            while True:
                await watch.wait()
                try:
                    data = os.read(self.fd, self._size)
                except BlockingIOError:
                    continue
                if len(data) == self._size:
                    self._size = READ_SIZE
                    watch.more()
                elif not data:
                    self.ended = True
                return data
        except (OSError, trio.ClosedResourceError):
            self.broken = self.ended = True
            return b""

    def read_now(self) -> bytes | None:
        """Return what has come already, b"" at the end, None when nothing has come."""
        if self.fd < 0:
            return b"" if self.ended or self.has_hung_up() else None
        try:
            data = os.read(self.fd, READ_SIZE)
        except BlockingIOError:
            return None
        except OSError:
            self.broken = True
            data = b""
        if not data:
            self.ended = True
        return data

    def has_hung_up(self) -> bool:
        """Return whether the client has ended its side, also behind bytes that nobody has read.

        TLS cannot be read without waiting, but the kernel knows. False where it does not tell.
        """
        if not self.ended and hasattr(select, "POLLRDHUP"):
            poll = select.poll()
            poll.register(self._socket.fileno(), select.POLLRDHUP)
            self.ended = bool(poll.poll(0))
        return self.ended

    def write_now(self, data: bytes) -> bool:
        """Send ``data`` without waiting; False when `flush` must finish it."""
        if self.broken:  # what is lost needs no `flush`, and the next read ends the connection
            return True
        if self.fd < 0 or self._pending:
            self._wait_with([memoryview(data)])
            return False
        try:
            sent = os.write(self.fd, data)
        except BlockingIOError:
            sent = 0
        except OSError:
            self.broken = True
            return True
        if sent == len(data):
            return True
        self._wait_with([memoryview(data)[sent:]])
        return False

    def write_parts_now(self, parts: Sequence[bytes]) -> bool:
        """Send ``parts`` like `write_now`, without joining them first."""
        if self.broken:
            return True
        views = [memoryview(part) for part in parts]
        if self.fd >= 0 and not self._pending:
            try:
                _advance(views, os.writev(self.fd, parts))
            except BlockingIOError:
                pass
            except OSError:
                self.broken = True
                return True
            if not views:
                return True
        self._wait_with(views)
        return False

    async def flush(self) -> None:
        """Wait until everything written is out, or ``broken``."""
        if self._flushing is None:
            self._flushing = trio.Lock()
        async with self._flushing:
            try:
                while self._pending and not self.broken:
                    with trio.move_on_after(self._stall) as stall:
                        await self._push()
                    if stall.cancelled_caught or self._is_too_slow():
                        self._cut_off()
            except (OSError, trio.BrokenResourceError, trio.ClosedResourceError):
                self.broken = True
        if self.broken:
            self._forget()

    async def write(self, data: bytes) -> None:
        """Send ``data``; afterwards it is out, or ``broken``."""
        if not self.write_now(data):
            await self.flush()

    @property
    def unread(self) -> Unread:
        """What waits for the client."""
        if self._unread is None:
            self._unread = Unread(self.address, self._cut_off)
        return self._unread

    def count_for(self, address: str) -> None:
        """Count what waits from now on, and what does already, for ``address``, as in `Unread`."""
        self.address = address
        if self._unread is not None:
            self._unread.address = address

    @property
    def backlog(self) -> int:
        """Bytes that wait for the client to read."""
        return sum(map(len, self._pending))

    def abort(self) -> None:
        """End both directions; whoever waits for the client stops waiting."""
        self.broken = True
        with suppress(OSError):  # gone already
            self._socket.shutdown(trio.socket.SHUT_RDWR)

    def reset_on_close(self) -> None:
        """Have the client see an error at the end, and the kernel keep nothing for it."""
        with suppress(OSError):  # gone already
            linger = struct.pack("ii", 1, 0)
            self._socket.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_LINGER, linger)

    def release(self) -> None:
        """Leave the stream to somebody else."""
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.close()
        self._forget()
        self._unread = None

    async def close(self, *, linger: bool) -> None:
        """Close. With ``linger``, first end our side and read what still comes.

        Closing a socket with unread bytes resets it, and a reset can overtake the
        last answer (RFC 9112, 9.6).
        """
        fd, self.fd = self.fd, -1
        self.release()
        if fd >= 0:
            if linger and not self.broken:
                with trio.move_on_after(_DRAIN_TIME, shield=True):
                    await self._drain(fd)
            self._socket.close()
        else:
            with trio.move_on_after(_DRAIN_TIME, shield=True) as scope:
                if self.broken:
                    scope.cancel()  # a TLS close_notify would only wait
                try:
                    await self.stream.aclose()
                except (OSError, trio.BrokenResourceError):
                    self.broken = True
        self.broken = self.ended = True

    async def _push(self) -> None:
        if self.fd < 0:
            view = self._pending[0]
            # One record's worth, so that the deadline sees progress.
            await self.stream.send_all(view[:READ_SIZE])
            self._take(min(len(view), READ_SIZE))
            return
        await trio.lowlevel.wait_writable(self.fd)
        if self._pending:  # else the client was cut off meanwhile
            with suppress(BlockingIOError):
                self._take(os.writev(self.fd, self._pending[:_VIEWS]))

    def _wait_with(self, views: Iterable[memoryview]) -> None:
        """Have ``views`` wait, and count what they are of."""
        unread = self.unread
        for view in views:
            if self.broken:  # there was no room for the one before
                return
            self._pending.append(view)
            unread.hold(view.obj)  # type: ignore[arg-type]  # bytes, or what is as good

    def _take(self, sent: int) -> None:
        """Forget the first ``sent`` bytes of what waits."""
        unread = self._unread
        if unread is None or not self._pending:  # cut off while they were sent
            return
        unread.taken += sent
        for done in _advance(self._pending, sent):
            unread.release(done)

    def _is_too_slow(self) -> bool:
        unread = self._unread
        now = trio.current_time()
        return unread is not None and unread.is_too_slow(now, self._stall, self._rate)

    def _cut_off(self) -> None:
        """Give up on a client that reads too slowly.

        The connection ends in both directions, so that an application that waits for the
        disconnect learns of it, though the client itself never ends anything.
        """
        self._pending.clear()
        self.reset_on_close()
        self.abort()

    def _forget(self) -> None:
        self._pending.clear()
        if self._unread is not None:
            self._unread.clear()

    async def _drain(self, fd: int) -> None:
        try:
            self._socket.shutdown(trio.socket.SHUT_WR)
            drained = 0
            while drained < _DRAINED_BYTES:
                try:
                    data = os.read(fd, READ_SIZE)
                except BlockingIOError:
                    await trio.lowlevel.wait_readable(fd)
                    continue
                if not data:
                    return
                drained += len(data)
        except (OSError, trio.ClosedResourceError):
            return

    async def _read_stream(self) -> bytes:
        try:
            data = bytes(await self.stream.receive_some(READ_SIZE))
        except (OSError, trio.BrokenResourceError, trio.ClosedResourceError):
            self.broken = True
            data = b""
        if not data:
            self.ended = True
        return data


def _advance(views: list[memoryview], sent: int) -> list[Any]:
    """Take the first ``sent`` bytes from ``views``; return what those are of that are done."""
    done = []
    for view in views:
        if sent < len(view):
            break
        sent -= len(view)
        done.append(view.obj)
    del views[: len(done)]
    if sent:
        views[0] = views[0][sent:]
    return done
