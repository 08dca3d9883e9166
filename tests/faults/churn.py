"""Minutes of coming and going: clients, sockets, uploads, transactions and lost connections.

    python -m tests.faults.churn [--seconds 600]

Money moves through `fx serve` with two processes on PostgreSQL and Redis, each behind a proxy
that resets its connections every ten seconds. Meanwhile clients leave in the middle of
transactions, WebSockets come and go, and files are sent. Prints what the processes and the
stores hold. When all have left, that is compared with what they held when all had left after
the first sixth: exits with 1 when it is more, when a promise of the bank was broken, or when
somebody who has left is still listed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import attrs
import trio
from trio_websocket import ConnectionClosed, HandshakeError, open_websocket_url

from tests.faults.bank import ACCOUNTS, CENTS, build_bank
from tests.faults.judge import Answers, Ledger, judge
from tests.faults.world import Bank, move_money, open_bank, read_ledger
from tests.realtime.redis_server import running_redis
from tests.tcp_proxy import Proxy, open_tcp_proxy
from tests.trees import page

CUT = 10.0
"""Between two resets of all connections (seconds)."""

LOOKS = 12
"""How often it is looked at what is held meanwhile (count)."""

GROWTH = 1.1
"""How much larger the memory may be than after the first sixth."""

SPARE = 4
"""Descriptors, threads and connections that may be more: a pool need not be full (count)."""

PATIENCE = 120.0
"""How long those whose connection was lost may be listed (seconds)."""

REST = 10.0
"""Until what nobody needs is closed (seconds)."""

QUESTIONS = 40
"""Asked at once, so that each process has some of them (count)."""

ROOM = """
    from fx.realtime import channel


    async def websocket(ws):
        await ws.accept()
        async with channel(ws, "room", member={"name": ws.query_params["name"]}) as room:
            await ws.send_json({"here": len(room.subscribers)})
            async for text in ws.iter_text():
                await room.publish({"text": text})
    """
FILE = """
    import hashlib


    async def post(request):
        return {"sum": hashlib.sha256(await request.body()).hexdigest()}
    """
QUESTION = """
    from fx.db import db


    async def get(request):
        return {"one": await db.value("select 1")}
    """
PAGES = {
    "pages/room.fxl": page(ROOM),
    "pages/api/file.py": FILE,
    "pages/api/question.py": QUESTION,
}
LOST = (OSError, trio.TooSlowError, trio.BrokenResourceError, AssertionError)


@attrs.define(slots=False)
class Counts:
    """What clients did (counts)."""

    left: int = 0
    sockets: int = 0
    files: int = 0


@attrs.frozen(slots=False)
class Held:
    """What the server processes and the stores hold."""

    memory: int
    """Of the server processes (MiB, resident)."""

    descriptors: int
    threads: int
    postgres: int
    """Connections to PostgreSQL through the proxy."""

    redis: int

    @property
    def others(self) -> int:
        """Descriptors that are no connections to the stores."""
        return self.descriptors - self.postgres - self.redis


async def leave_early(bank: Bank, stop: trio.Event, counts: Counts) -> None:
    """Ask for a transaction of a second, and leave in the middle of it."""
    while not stop.is_set():
        with suppress(OSError), trio.move_on_after(random.uniform(0, 0.5)):
            await bank.get("/api/slow")
        counts.left += 1


async def join_and_go(bank: Bank, stop: trio.Event, counts: Counts) -> None:
    """Come into the room, say something, and go: in good order, or without a word."""
    while not stop.is_set():
        assert bank.server is not None
        url = f"ws://127.0.0.1:{bank.server.port}/room?name={counts.sockets}"
        counts.sockets += 1
        with suppress(ConnectionClosed, HandshakeError, *LOST):
            with trio.move_on_after(random.uniform(0.05, 1)):  # which is to go without a word
                async with open_websocket_url(url) as socket:
                    await socket.get_message()
                    await socket.send_message("x" * 1000)
                    await socket.get_message()


async def send_files(bank: Bank, stop: trio.Event, counts: Counts) -> None:
    """Send files, some of which go to the disk, and some of which end in the middle."""
    while not stop.is_set():
        size = random.choice((1000, 100_000, 2_000_000))
        head = (
            "POST /api/file HTTP/1.1\r\nHost: bank\r\nSec-Fetch-Site: same-origin\r\n"
            f"Content-Length: {size}\r\n\r\n"
        )
        sent = size if random.random() < 0.7 else size // 2
        with suppress(*LOST), trio.move_on_after(2):
            await bank.ask(head.encode() + b"x" * sent)
            counts.files += 1
        await trio.sleep(0.1)


async def listed(bank: Bank) -> int:
    """Return how many the room lists beside a visitor."""
    assert bank.server is not None
    async with open_websocket_url(f"ws://127.0.0.1:{bank.server.port}/room?name=last") as socket:
        return int(json.loads(await socket.get_message())["here"]) - 1


def look(bank: Bank, stores: Sequence[Proxy]) -> Held:
    """Return what is held now."""
    servers = bank.processes("server")
    return Held(
        memory=sum(each.memory_info().rss for each in servers) // 1024**2,
        descriptors=sum(each.num_fds() for each in servers),
        threads=sum(each.num_threads() for each in servers),
        postgres=stores[0].connections,
        redis=stores[1].connections,
    )


async def churn(
    bank: Bank, stores: Sequence[Proxy], name: str, looks: int, pause: float
) -> tuple[Answers, int]:
    """Come and go, and look now and then at what is held.

    Returns what was answered, and the most connections to the stores at a look.
    """
    answers, counts, most = Answers(), Counts(), 0
    stop = trio.Event()
    async with trio.open_nursery() as cutting:
        cutting.start_soon(_cut, stores)
        async with trio.open_nursery() as nursery:
            for number in range(3):
                nursery.start_soon(move_money, bank, f"{name}-{number}", stop, answers)
            for work in (leave_early, join_and_go, send_files):
                for _ in range(4):
                    nursery.start_soon(work, bank, stop, counts)
            for number in range(1, looks + 1):
                await trio.sleep(pause)
                done = f"transfers {len(answers.acknowledged)}, {described(counts)}"
                held = look(bank, stores)
                most = max(most, held.postgres + held.redis)
                print(f"{name}, {number * pause:4.0f} s: {described(held)} ({done})", flush=True)
            stop.set()
        cutting.cancel_scope.cancel()
    return answers, most


async def rest(bank: Bank, stores: Sequence[Proxy]) -> tuple[Ledger, int, Held]:
    """Wait until all have left. Returns the books, who is still listed, and what is held then."""
    ledger = await read_ledger(bank)
    with trio.move_on_after(PATIENCE):
        while await listed(bank):  # noqa: ASYNC110  # no event tells
            await trio.sleep(1)
    left = await listed(bank)
    async with trio.open_nursery() as nursery:
        for _ in range(QUESTIONS):  # each pool closes what was broken when it is next used
            nursery.start_soon(bank.get, "/api/question")
    await trio.sleep(REST)
    held = look(bank, stores)
    print(f"all gone: {described(held)}", flush=True)
    return ledger, left, held


async def _cut(stores: Sequence[Proxy]) -> None:
    while True:
        await trio.sleep(CUT)
        for proxy in stores:
            proxy.reset()


def described(fields: object) -> str:
    """Return the numbers of an object with their names."""
    return ", ".join(f"{name} {value}" for name, value in vars(fields).items())


def grown(first: Held, last: Held, most: int) -> list[str]:
    """Return what is more in the end than it was.

    Pools may be full that were not, with at most so many connections as there have been.
    """
    found = ["threads"] if last.threads > first.threads + SPARE else []
    if last.others > first.others + SPARE:
        found.append("descriptors")
    if last.postgres + last.redis > most + SPARE:
        found.append("connections")
    return [*found, *(["memory"] if last.memory > first.memory * GROWTH else [])]


async def main(seconds: float) -> int:
    with tempfile.TemporaryDirectory(prefix="fx-churn-") as folder:
        built = await build_bank(Path(folder), **PAGES)
        with running_redis(Path(folder)) as redis:
            async with open_tcp_proxy(redis.port) as broker:
                settings = {"FX_REALTIME__BROKER": f"redis://127.0.0.1:{broker.port}"}
                async with open_bank(built, "postgresql", settings=settings) as bank:
                    return await _judged(bank, broker, seconds)


async def _judged(bank: Bank, broker: Proxy, seconds: float) -> int:
    assert bank.proxy is not None
    stores = (bank.proxy, broker)
    before = {each.pid for each in bank.processes("server")}
    pause, first = seconds / LOOKS, LOOKS // 6
    answers, most = await churn(bank, stores, "warm", first, pause)
    _, _, warm = await rest(bank, stores)
    later, _ = await churn(bank, stores, "long", LOOKS - first, pause)
    answers = answers.merge(later)
    ledger, left, held = await rest(bank, stores)
    broken = judge(answers, ledger, cents=ACCOUNTS * CENTS, back_after=0)
    problems = [
        *(f"{name}: {count}" for name, count in broken.items() if count),
        *(f"{name} grew" for name in grown(warm, held, most)),
        *([f"{left} are listed that have gone"] if left else []),
        *(["a process has ended"] if {e.pid for e in bank.processes("server")} != before else []),
    ]
    print(f"broken: {'; '.join(problems) or 'nothing'}")
    return int(bool(problems))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600)
    options = parser.parse_args()
    sys.exit(trio.run(main, options.seconds))
