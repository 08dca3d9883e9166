"""One function for each size that grows. All measure one server process on this machine."""

from __future__ import annotations

import resource
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import attrs
import trio
from starlette.datastructures import State

from benchmarks import processes
from benchmarks.enqueue import async_no_op, run_round
from benchmarks.growth.app import write_app
from benchmarks.growth.table import Series
from benchmarks.load import Load, run_wrk
from benchmarks.streams.site import Site, served
from benchmarks.works import Call
from fxtrio.app_handle import App
from fxtrio.context import entered
from fxtrio.realtime import MemoryBroker
from fxtrio.realtime.broker import PresenceListeners
from fxtrio.realtime.frames import Frame, Message
from fxtrio.realtime.presence import Member, Notice
from fxtrio.tasks import open_task_queue

HELLO = "/hello"
SETTLE = 0.5  # seconds without requests before memory is read
FEW = 2  # pages of an app of which the number does not matter
LEAST = 10_000
"""Members that join in all for one row (count): few of them are measured several times."""

_FILES = 20_000
"""Descriptors that this process and its servers may have open (count)."""


@attrs.frozen
class Amount:
    """How much is measured."""

    seconds: float
    """Of load for one row of a table."""

    most: int
    """Sizes above it are left out (count)."""

    def sizes(self, *sizes: int) -> Iterator[int]:
        """Yield the sizes that are measured."""
        return (size for size in sizes if size <= self.most)


@attrs.frozen
class Cost:
    """What one response costs under load."""

    load: Load
    python: float
    """Microseconds of CPU."""

    node: float
    """Microseconds of CPU."""


def rows(amount: Amount) -> Series:
    """Measure a page whose data and HTML grow; every response is rendered."""
    series = Series(
        "rows",
        "A page with a table, rendered for each request, 4 connections.",
        ("rows", "Python (CPU µs)", "Node (CPU µs)", "Python (ns a row)", "Node (ns a row)"),
    )
    with _site(FEW) as site:
        for count in amount.sizes(10, 100, 1_000, 10_000):
            cost = _cost(site, f"/rows/{count}", 4, amount.seconds)
            each = [1000 * value / count for value in (cost.python, cost.node)]
            series.rows.append((count, cost.python, cost.node, *each))
    return series


def pages(amount: Amount) -> Series:
    """Measure projects with more and more pages."""
    series = Series(
        "pages",
        "A project with this many pages: its build, its start, its memory when idle (PSS of the "
        "server and its render worker), and one small page of it, 32 connections.",
        ("pages", "build (CPU s)", "start (CPU s)", "idle (MB)", "response (CPU µs)"),
    )
    for count in amount.sizes(3, 30, 300, 1_000):
        with tempfile.TemporaryDirectory(prefix="fx-growth-") as folder:
            root = Path(folder) / "app"
            built = write_app(root, count)
            with served(root) as site:
                _get(site, HELLO)
                started = processes.cpu_seconds(site.process.pid).total()
                time.sleep(SETTLE)
                idle = processes.memory_mb(site.process.pid)
                cost = _cost(site, HELLO, 32, amount.seconds)
        series.rows.append((count, built, started, idle, cost.python + cost.node))
    return series


def connections(amount: Amount) -> Series:
    """Measure one small page for more and more clients at once."""
    series = Series(
        "connections",
        "One small page over this many connections, as fast as they can.",
        ("connections", "responses a second", "CPU µs", "p50 (ms)", "p99 (ms)", "p99 / p50"),
    )
    with _site(FEW) as site:
        for count in amount.sizes(1, 4, 32, 256, 1_024, 2_048):
            cost = _cost(site, HELLO, count, amount.seconds)
            load = cost.load
            latency = (load.p50, load.p99, load.p99 / load.p50 if load.p50 else 0.0)
            series.rows.append((count, load.rate, cost.python + cost.node, *latency))
    return series


def idle_connections(amount: Amount) -> Series:
    """Measure the memory of connections that have had a response and stay open."""
    series = Series(
        "idle connections",
        "Connections that stay open after one response: the memory of the server process (RSS).",
        ("connections", "server (MiB)", "each (KiB)"),
    )
    with _site(FEW) as site, ExitStack() as stack:
        _get(site, HELLO)
        time.sleep(SETTLE)
        before = site.rss()
        opened = 0
        for count in amount.sizes(1, 32, 256, 1_024, 2_048):
            while opened < count:
                stack.enter_context(_open(site, HELLO))
                opened += 1
            time.sleep(SETTLE)
            used = site.rss()
            series.rows.append((count, used / 1024, (used - before) / count))
    return series


class _Subscriber:
    """Takes everything at once, and has no reader of presence events, as most have none."""

    idle = True

    def __init__(self, number: int) -> None:
        self.member = Member(id=str(number))

    def deliver(self, message: Message | Frame) -> None:
        """Take a message."""

    def offer(self, frame: Frame, *, urgent: bool = False) -> bool:
        """Take a frame."""
        return True

    async def make_room(self, patience: float) -> bool:
        """Return at once: there is always room."""
        return True

    def notice(self, event: Notice) -> None:
        """Pass over who joins and leaves."""

    def register(self, listeners: PresenceListeners) -> None:
        """Read no presence events."""

    def unregister(self, listeners: PresenceListeners) -> None:
        """Have nothing to leave."""


def members(amount: Amount) -> Series:
    """Measure joining, publishing and leaving, in this process and without sockets."""
    series = Series(
        "members",
        "A channel with this many members, without sockets: CPU time in Python.",
        ("members", "join (µs)", "publish (µs a member)", "leave (µs)"),
    )

    async def main(count: int) -> tuple[float, float, float]:
        subscribers = [_Subscriber(number) for number in range(count)]
        rounds = max(1, LEAST // count)
        spent = [0.0, 0.0, 0.0]
        for _ in range(rounds):
            broker = MemoryBroker()
            times = [time.process_time()]
            for subscriber in subscribers:
                await broker.subscribe("room", subscriber)
            times.append(time.process_time())
            await broker.publish("room", "x" * 100)
            times.append(time.process_time())
            for subscriber in subscribers:
                await broker.unsubscribe("room", subscriber)
            times.append(time.process_time())
            for part in range(3):
                spent[part] += 1e6 * (times[part + 1] - times[part]) / (rounds * count)
        return spent[0], spent[1], spent[2]

    for count in amount.sizes(1, 100, 1_000, 10_000):
        series.rows.append((count, *trio.run(main, count)))
    return series


def jobs(amount: Amount) -> Series:
    """Measure the task queue with more and more tasks waiting."""
    series = Series(
        "jobs",
        "Tasks that are enqueued at once, without work of their own: enqueued and completed a "
        "second.",
        ("tasks", "enqueued a second", "completed a second"),
    )

    async def main(count: int) -> tuple[float, float]:
        async with open_task_queue(capacity=count, workers=4, drain_timeout=10) as queue:
            app = App(config=None, tasks=queue, broker=None, state=State())  # type: ignore[arg-type]  # no others are used
            with entered(app, "0" * 32):
                return await run_round(queue, async_no_op, count)

    for count in amount.sizes(10, 100, 1_000, 10_000, 100_000):
        series.rows.append((count, *trio.run(main, count)))
    return series


SERIES: dict[str, Callable[[Amount], Series]] = {
    "rows": rows,
    "pages": pages,
    "connections": connections,
    "idle-connections": idle_connections,
    "members": members,
    "jobs": jobs,
}


def allow_descriptors() -> None:
    """Let this process and its servers have as many sockets as the largest size needs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@contextmanager
def _site(pages: int) -> Iterator[Site]:
    """Build and serve an app for the length of the block."""
    with tempfile.TemporaryDirectory(prefix="fx-growth-") as folder:
        root = Path(folder) / "app"
        write_app(root, pages)
        with served(root) as site:
            yield site


def _cost(site: Site, path: str, connections: int, seconds: float) -> Cost:
    """Load one path, after a second that is not measured."""
    call = Call(path=path, contains=())
    base = f"http://127.0.0.1:{site.port}"
    run_wrk(base, call, headers={}, connections=connections, seconds=1)
    before = processes.cpu_seconds(site.process.pid)
    load = run_wrk(base, call, headers={}, connections=connections, seconds=seconds)
    used = processes.cpu_seconds(site.process.pid)
    used.subtract(before)
    if load.errors:
        raise SystemExit(f"{path}, {connections} connections: {load.errors}")
    answers = max(1, load.requests)
    return Cost(load, 1e6 * used["python"] / answers, 1e6 * used["node"] / answers)


def _get(site: Site, path: str) -> None:
    with _open(site, path):
        pass


@contextmanager
def _open(site: Site, path: str) -> Iterator[socket.socket]:
    """Keep a connection open over which one response has come."""
    with socket.create_connection(("127.0.0.1", site.port), timeout=30) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        if not client.recv(1 << 16).startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"{path}: not 200")
        yield client
