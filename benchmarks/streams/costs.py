"""CPU time and memory of streams in one server process."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from pathlib import Path

import trio

from benchmarks.streams.site import Site, served

IDLE, ROUNDS, SECONDS = 500, 20, 20
FAST, STREAMS, VALUES = 50_000, 50, 1_000
LARGE, MANY = 20_000, 100_000


def value(root: Path) -> str:
    """Measure the CPU time of a value: of one fast stream, and of many at 50 values a second."""

    async def main(site: Site) -> tuple[float, float]:
        await _read(site, 1, 0)  # what is loaded at the first request
        before = site.cpu()
        await _read(site, FAST, 0)
        fast = (site.cpu() - before) / FAST * 1e6
        before = site.cpu()
        async with trio.open_nursery() as nursery:
            for _ in range(STREAMS):
                nursery.start_soon(_read, site, VALUES, 0.02)
        return fast, (site.cpu() - before) / (STREAMS * VALUES) * 1e6

    with served(root) as site:
        fast, slow = trio.run(main, site)
        return f"{fast:.1f} µs of CPU in a fast stream, {slow:.1f} in {STREAMS} slow ones"


async def _read(site: Site, count: int, every: float) -> None:
    async with await trio.open_tcp_stream("127.0.0.1", site.port) as stream:
        await stream.send_all(_call({"count": count, "every": every}))
        tail = b""
        while b"event: end" not in tail:
            tail = tail[-20:] + await stream.receive_some()


def idle(root: Path) -> str:
    """Measure the memory and CPU time of streams without values."""

    async def main(site: Site) -> tuple[float, float]:
        async with AsyncExitStack() as stack:
            await _open(site, stack, 50, "idle")
            before = site.rss()
            await _open(site, stack, IDLE, "idle")
            await trio.sleep(2)
            memory = (site.rss() - before) / IDLE
            spent = site.cpu()
            await trio.sleep(SECONDS)
            return memory, (site.cpu() - spent) / SECONDS * 100

    with served(root) as site:
        memory, share = trio.run(main, site)
        return f"{memory:.1f} KiB each of {IDLE}, {share:.1f} % of a core"


def rounds(root: Path) -> str:
    """Measure the memory after rounds of streams whose readers have disconnected."""

    async def main(site: Site) -> list[float]:
        found = []
        for _ in range(ROUNDS):
            async with AsyncExitStack() as stack:
                await _open(site, stack, IDLE, "ticks")
                await trio.sleep(0.5)
            await trio.sleep(1.2)
            found.append(site.rss() / 1024)
        return found

    with served(root) as site:
        found = trio.run(main, site)
        return "RSS in MiB " + " ".join(f"{one:.1f}" for one in found)


def unread(root: Path) -> str:
    """Measure the memory while a reader takes nothing of 2 GB."""

    async def main(site: Site) -> float:
        await _read(site, 1, 0)
        before = highest = site.rss()
        async with await trio.open_tcp_stream("127.0.0.1", site.port) as stream:
            await stream.send_all(_call({"count": MANY, "every": 0, "size": LARGE}))
            for _ in range(SECONDS * 10):
                await trio.sleep(0.1)
                highest = max(highest, site.rss())
        return (highest - before) / 1024

    with served(root) as site:
        return f"RSS +{trio.run(main, site):.1f} MiB"


async def _open(site: Site, stack: AsyncExitStack, count: int, name: str) -> None:
    for _ in range(count):
        stream = await trio.open_tcp_stream("127.0.0.1", site.port)
        await stack.enter_async_context(stream)
        await stream.send_all(
            f"GET /api/__streams/index/{name} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        )
        assert b" 200 " in await stream.receive_some()


def _call(body: dict[str, float]) -> bytes:
    text = json.dumps(body).encode()
    head = "POST /api/__actions/index/values HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-origin\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
    return head.encode() + text
