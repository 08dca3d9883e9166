"""A server that is killed again and again, and what its reader gets."""

from __future__ import annotations

import json
import tempfile
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path

import httpx
import trio

from benchmarks.streams.site import served
from fxtrio.config import RealtimeConfig
from fxtrio.realtime.open import open_broker
from tests.db.cluster import running_cluster
from tests.ports import free_port
from tests.realtime.redis_server import RedisServer

EVENTS, KILLS = 10_000, 20
HISTORY = 5_000
UP = 1.5
"""How long a server runs before it is killed (seconds)."""


def resume(root: Path) -> str:
    """Count how often each of the published events has come, over the log of Redis."""
    with tempfile.TemporaryDirectory() as folder:
        redis = RedisServer(Path(folder))
        redis.start()
        try:
            return trio.run(_measure, root, redis.url)
        finally:
            redis.kill()


def resume_postgresql(root: Path) -> str:
    """Count the same over the log of PostgreSQL."""
    with running_cluster() as cluster:
        return trio.run(_measure, root, cluster.new_database())


async def _measure(root: Path, url: str) -> str:
    reader = _Reader(free_port())
    settings = {"FX_REALTIME__BROKER": url, "FX_REALTIME__HISTORY": str(HISTORY)}
    async with trio.open_nursery() as nursery:
        stop = threading.Event()
        serve = partial(_serve_and_kill, root, reader, settings, stop)
        nursery.start_soon(trio.to_thread.run_sync, serve)
        nursery.start_soon(reader.run)
        await reader.begun.wait()
        config = RealtimeConfig(broker=url, history=HISTORY)
        async with open_broker(config, name="Streams") as broker:
            for number in range(EVENTS):
                await broker.publish("feed", {"number": number})
                await trio.sleep(0.005)
                while reader.kills < number * KILLS // EVENTS - 1:  # noqa: ASYNC110  # a slow machine
                    await trio.sleep(0.1)
        with trio.move_on_after(60):
            while reader.numbers[-1:] != [EVENTS - 1] or reader.kills < KILLS:  # noqa: ASYNC110
                await trio.sleep(0.1)
        stop.set()
        nursery.cancel_scope.cancel()
    found = reader.numbers
    doubled = len(found) - len(set(found))
    return (
        f"{len(set(found))} of {EVENTS} events with {reader.kills} kills, {doubled} twice, "
        f"{'in order' if found == sorted(found) else 'out of order'}, {reader.missed} told missed"
    )


class _Reader:
    """Reads the feed as an EventSource does."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.numbers: list[int] = []
        self.missed = 0
        self.kills = 0
        self.begun = trio.Event()
        self._last = ""

    async def run(self) -> None:
        while True:
            with suppress(httpx.HTTPError):
                await self._read()
            await trio.sleep(0.1)

    async def _read(self) -> None:
        headers = {"last-event-id": self._last} if self._last else {}
        url = f"http://127.0.0.1:{self.port}/api/__streams/index/feed"
        async with httpx.AsyncClient(timeout=None) as client:
            async with client.stream("GET", url, headers=headers) as response:
                response.raise_for_status()
                self.begun.set()
                fields: dict[str, str] = {}
                async for line in response.aiter_lines():
                    if line:
                        name, _, text = line.partition(": ")
                        fields[name] = text
                        continue
                    self._take(fields)
                    fields = {}

    def _take(self, fields: dict[str, str]) -> None:
        if "data" not in fields:
            return
        data = json.loads(fields["data"])
        if fields.get("event") == "missed":
            self.missed += data["count"] or 0
            return
        self._last = fields["id"]
        self.numbers.append(data["number"])


def _serve_and_kill(
    root: Path, reader: _Reader, settings: dict[str, str], stop: threading.Event
) -> None:
    """Serve in a thread, since starting a server waits without trio."""
    while not stop.is_set():
        with served(root, port=reader.port, **settings) as site:
            while not reader.numbers and not stop.is_set():  # without an id nothing is resumed
                stop.wait(0.1)
            stop.wait(UP if reader.kills < KILLS else None)
            if not stop.is_set():
                site.server.kill()
                site.server.wait()
                reader.kills += 1
