"""What it costs a server when all clients come back at once, as after a restart of a proxy."""

from __future__ import annotations

import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import psutil

from benchmarks.growth.app import write_app
from benchmarks.growth.series import FEW, Amount
from benchmarks.growth.table import Series
from benchmarks.processes import end
from benchmarks.streams.site import Site, served
from tests.ports import free_port

ROOM_PAGE = """\
from fx.realtime import channel, wait_closed


async def websocket(ws):
    await ws.accept()
    async with channel(ws, "room"):
        await wait_closed(ws)


export default function Room() {
  return <p>A room</p>;
}
"""

AT_ONCE = 500
"""Handshakes under way (count)."""

TIMEOUT = 60.0  # seconds without any client's progress

_SLICE = 0.25
_SPARE = 16  # files that a server may have opened meanwhile
_IDLE = 0.03  # CPU seconds in a slice
_REST = 8.0  # seconds: less than until the first ping, which these clients do not answer


def returning(amount: Amount) -> Series:
    """Measure clients that open a WebSocket, leave, and come back to the same process."""
    series = Series(
        "returning",
        f"WebSockets over real sockets, {AT_ONCE} handshakes at a time, each in one channel; then "
        "all of them leave, and come a second time. CPU time of the server for each, and of a "
        "server of Trio alone that does nothing but the handshake.",
        (
            *("clients", "come (µs)", "leave (µs)", "come again (µs)", "leave again (µs)"),
            *("Trio alone, come (µs)", "Trio alone, leave (µs)", "memory of each (KiB)"),
            "all of them idle (% of a core)",
        ),
    )
    for count in amount.sizes(100, 1_000, 9_000):
        with _room() as site:
            first, second = _wave(site, "/room", count), _wave(site, "/room", count)
        with _bare_server() as site:
            bare = _wave(site, "/", count)
        figures = (first.come, first.leave, second.come, second.leave, bare.come, bare.leave)
        series.rows.append((count, *figures, first.memory, first.idle))
    return series


@attrs.frozen
class _Wave:
    """What each of the clients that came together has cost."""

    come: float
    """Microseconds of CPU."""

    leave: float
    """Microseconds of CPU."""

    memory: float
    """KiB of the server while it is there."""

    idle: float
    """Percent of a core, for all of them while nobody does anything."""


def _wave(site: Site, path: str, count: int) -> _Wave:
    used = _settled(site)
    before, files = site.rss(), site.process.num_fds()
    clients = join(site.port, path, count)
    come = _settled(site) - used
    memory = site.rss() - before
    used, began = site.cpu(), time.monotonic()
    time.sleep(_REST)
    idle = 100 * (site.cpu() - used) / (time.monotonic() - began)
    used = site.cpu()
    for client in clients:
        client.close()
    # On a busy machine a server may rest though it is not done.
    deadline = time.monotonic() + TIMEOUT
    while (held := site.process.num_fds() - files) > _SPARE:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the server holds {held} sockets of clients that have left")
        time.sleep(_SLICE)
    leave = _settled(site) - used
    return _Wave(1e6 * come / count, 1e6 * leave / count, memory / count, idle)


def join(port: int, path: str, count: int) -> list[socket.socket]:
    """Open WebSockets, `AT_ONCE` handshakes at a time, and return their sockets."""
    request = (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    ).encode()
    opened: list[socket.socket] = []
    waiting: dict[int, socket.socket] = {}
    with select.epoll() as ready:
        while len(opened) < count:
            while len(waiting) < min(AT_ONCE, count - len(opened)):
                client = socket.socket()
                client.setblocking(False)
                client.connect_ex(("127.0.0.1", port))
                waiting[client.fileno()] = client
                ready.register(client, select.EPOLLOUT)
            events = ready.poll(TIMEOUT)
            if not events:
                raise SystemExit(f"{path}: no answer after {TIMEOUT:g} s")
            for descriptor, event in events:
                client = waiting[descriptor]
                if event & select.EPOLLOUT:
                    client.send(request)
                    ready.modify(descriptor, select.EPOLLIN)
                    continue
                if not client.recv(4096).startswith(b"HTTP/1.1 101"):
                    raise SystemExit(f"{path}: no WebSocket")
                ready.unregister(descriptor)
                opened.append(waiting.pop(descriptor))
    return opened


def _settled(site: Site) -> float:
    """Return the CPU time of a server once it has nothing left to do (seconds)."""
    used, deadline = site.cpu(), time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        time.sleep(_SLICE)
        before, used = used, site.cpu()
        if used - before < _IDLE:
            return used
    raise TimeoutError("the server does not come to rest")


@contextmanager
def _room() -> Iterator[Site]:
    with tempfile.TemporaryDirectory(prefix="fx-growth-") as folder:
        root = Path(folder) / "app"
        write_app(root, FEW, {"room.fxl": ROOM_PAGE})
        with served(root, FX_LIMITS__CONNECTIONS_PER_ADDRESS="20000") as site:
            yield site


@contextmanager
def _bare_server() -> Iterator[Site]:
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.growth.bare_server", str(port)]
    with subprocess.Popen(command, text=True) as server:
        try:
            _wait_open(port)
            yield Site(port, server, psutil.Process(server.pid))
        finally:
            end(server, patience=10)


def _wait_open(port: int) -> None:
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
