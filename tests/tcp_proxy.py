"""A TCP proxy between a program and its server, whose connections a test can spoil.

It runs in the test's own event loop, on a port of 127.0.0.1 that the kernel chooses, in front of
another port or of a Unix socket (a path, such as that of `tests.db.cluster`). Each fault befalls
the connections that are open; with ``new=True`` also those that come before `restore`. What has
once been frozen, dropped or half closed stays so: `restore` is for new connections.
"""

from __future__ import annotations

import ctypes
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Literal

import attrs
import trio

Upstream = int | str
"""A port of 127.0.0.1, or the path of a Unix socket."""

Side = Literal["client", "server"]
Fault = Callable[["_Link"], None]
Wait = Callable[[], Awaitable[None]]
Socket = trio.socket.SocketType

_CHUNK = 65_536
_BACKLOG = 128
_SO_ATTACH_FILTER, _SO_DETACH_FILTER = 26, 27  # of Linux, as both BPF words below
_RETURN_NOTHING = struct.pack("HBBI", 0x06, 0, 0, 0)  # a BPF program: keep 0 bytes of a packet


@attrs.define(eq=False)
class Proxy:
    """What `open_tcp_proxy` yields; its methods return at once."""

    port: int
    _listener: socket.socket
    _links: set[_Link] = attrs.field(factory=set)
    _fault: Fault | None = None
    """What befalls a connection as soon as it is made."""

    accepted: int = 0
    """Connections so far (count)."""

    delay: float = 0.0
    """How long each piece of data waits before it is passed on, either way (seconds)."""

    _gate: trio.Event = attrs.field(factory=trio.Event)
    """Set unless data is held."""

    @property
    def connections(self) -> int:
        """How many are open, spoilt ones among them."""
        return len(self._links)

    def restore(self) -> None:
        """Pass on the data of new connections, and of those that were held; end the delay."""
        self._fault = None
        self.delay = 0.0
        self._gate.set()
        with suppress(OSError):  # there is no filter
            self._listener.setsockopt(socket.SOL_SOCKET, _SO_DETACH_FILTER, 0)

    def hold(self) -> None:
        """Read nothing and pass on nothing, until `restore`: nothing is lost meanwhile."""
        self._gate = trio.Event()

    def freeze(self, *, new: bool = False) -> None:
        """Accept, read and acknowledge everything, and pass on nothing, not even an end.

        So is a middlebox that has lost a connection, or a host whose process hangs.
        """
        self._spoil(_Link.freeze, new=new)

    def drop(self, *, new: bool = False) -> None:
        """Let the kernel drop all packets unacknowledged, those of a new connection's SYN too.

        So is a firewall that has forgotten a connection, or a host that has lost its power.
        """
        self._spoil(_Link.drop, new=False)
        if new:  # the filter of a listening socket is asked of the SYN
            _drop_packets(self._listener)

    def reset(self, *, new: bool = False) -> None:
        """End the connections with a RST on both sides."""
        self._spoil(_Link.reset, new=new)

    def half_close(self, *, toward: Side = "client", new: bool = False) -> None:
        """Send one side the end of the stream, and swallow what it still sends.

        The other side learns of nothing.
        """
        self._spoil(lambda link: link.half_close(toward), new=new)

    def _spoil(self, fault: Fault, *, new: bool) -> None:
        if new:
            self._fault = fault
        for link in tuple(self._links):
            fault(link)

    async def wait(self) -> None:
        """Wait as long as data is held, and for the delay."""
        await self._gate.wait()
        if self.delay:
            await trio.sleep(self.delay)

    async def serve(self, upstream: Upstream) -> None:
        """Accept connections for ever."""
        listener = trio.socket.from_stdlib_socket(self._listener)
        async with trio.open_nursery() as nursery:
            while True:
                near, _ = await listener.accept()
                near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.accepted += 1
                nursery.start_soon(self._pass_on, near, upstream)

    async def _pass_on(self, near: Socket, upstream: Upstream) -> None:
        with near:
            far = await _connect(upstream)
            if far is None:
                _end_with_reset(near)
                return
            with far:
                link = _Link(near, far)
                self._links.add(link)
                try:
                    if self._fault is not None:
                        self._fault(link)
                    await link.run(self.wait)
                finally:
                    self._links.discard(link)


@attrs.define(eq=False)
class _Link:
    """One connection through the proxy: the client's socket, and that to the server."""

    near: Socket
    far: Socket
    _spoilt: bool = False
    _dead: trio.Event = attrs.field(factory=trio.Event)

    def freeze(self) -> None:
        self._spoilt = True

    def drop(self) -> None:
        self._spoilt = True
        _drop_packets(self.near)
        if self.far.family != socket.AF_UNIX:  # on which nothing gets lost
            _drop_packets(self.far)

    def reset(self) -> None:
        self._spoilt = True
        _end_with_reset(self.near)
        _end_with_reset(self.far)
        self._dead.set()

    def half_close(self, toward: Side) -> None:
        self._spoilt = True
        with suppress(OSError):  # it has ended
            (self.near if toward == "client" else self.far).shutdown(socket.SHUT_WR)

    async def run(self, wait: Wait) -> None:
        """Pass data on both ways until both have ended; a spoilt link ends by `reset` alone."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._run_both, wait)
            await self._dead.wait()
            nursery.cancel_scope.cancel()

    async def _run_both(self, wait: Wait) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._pump, self.near, self.far, wait)
            nursery.start_soon(self._pump, self.far, self.near, wait)
        if not self._spoilt:
            self._dead.set()

    async def _pump(self, source: Socket, sink: Socket, wait: Wait) -> None:
        try:
            while True:
                data = await source.recv(_CHUNK)
                await wait()
                if self._spoilt:
                    if not data:
                        return
                elif data:
                    await _send_all(sink, data)
                else:
                    sink.shutdown(socket.SHUT_WR)
                    return
        except (OSError, trio.ClosedResourceError):  # one side is broken: so is the other
            if not self._spoilt:
                self.reset()


async def _send_all(sink: Socket, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[await sink.send(view) :]


async def _connect(upstream: Upstream) -> Socket | None:
    """Return a connection; None when there is no server."""
    is_port = isinstance(upstream, int)
    far = trio.socket.socket(socket.AF_INET if is_port else socket.AF_UNIX)
    try:
        await far.connect(("127.0.0.1", upstream) if is_port else upstream)
    except OSError:
        far.close()
        return None
    if is_port:
        far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return far


def _drop_packets(of: socket.socket | Socket) -> None:
    """Let the kernel throw away what arrives for a socket, before it is acknowledged."""
    program = ctypes.create_string_buffer(_RETURN_NOTHING)
    of.setsockopt(
        socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HL", 1, ctypes.addressof(program))
    )


def _end_with_reset(of: Socket) -> None:
    with suppress(OSError):  # it has ended
        of.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    of.close()


@asynccontextmanager
async def open_tcp_proxy(upstream: Upstream) -> AsyncIterator[Proxy]:
    """Run a proxy in front of ``upstream`` for the length of the block; its end resets all."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        proxy = Proxy(listener.getsockname()[1], listener)
        proxy.restore()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(proxy.serve, upstream)
            try:
                yield proxy
            finally:
                proxy.reset()
                nursery.cancel_scope.cancel()
