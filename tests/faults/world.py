"""The bank in operation: its database, its servers, and the clients who move money."""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Literal

import attrs
import psutil
import trio

from fxtrio.db import Database
from tests.db.bouncer import PORT, running_bouncer
from tests.db.cluster import Cluster, running_cluster
from tests.db.engines import opened
from tests.faults.bank import ACCOUNTS
from tests.faults.judge import Answers, Ledger
from tests.http1.support import Client
from tests.supervise.support import Running, serve_project, serve_with_hypercorn
from tests.tcp_proxy import Proxy, open_tcp_proxy

Engine = Literal["postgresql", "sqlite"]
Pooler = Literal["", "session", "transaction"]
POOLED = {"session": 40, "transaction": 4}
"""Connections of a pooler to PostgreSQL: of transactions fewer than servers want (count)."""

WORKERS = 2
ANSWER = 15.0
"""How long a client waits for an answer (seconds)."""

SETTLED = 90.0
"""How long jobs may take after the last transfer (seconds)."""


@attrs.define(eq=False)
class Bank:
    """Handed to a fault. Ends with the block of `open_bank`."""

    root: Path
    url: str
    """The database as the servers reach it."""

    own_url: str
    """The database itself, past any proxy."""

    _nursery: trio.Nursery
    cluster: Cluster | None = None
    proxy: Proxy | None = None
    server: Running | None = None
    settings: dict[str, str] = attrs.field(factory=dict)
    """Of the servers, as environment variables."""

    stock: bool = False
    """Whether Hypercorn itself serves, and not ``fx serve``."""

    async def start(self) -> None:
        """Start the servers, and wait until they serve."""
        self.server = await self._nursery.start(self._serve)

    async def _serve(
        self, *, task_status: trio.TaskStatus[Running] = trio.TASK_STATUS_IGNORED
    ) -> None:
        settings = {"FX_DATABASE__URL": self.url, **self.settings}
        opening = serve_with_hypercorn if self.stock else serve_project
        async with opening(self.root, workers=WORKERS, environment=settings) as server:
            task_status.started(server)
            await trio.sleep_forever()  # the servers end with the bank

    def processes(self, name: str) -> list[psutil.Process]:
        """Return the live processes below the supervisor: ``server`` or ``renderer``."""
        assert self.server is not None
        found = [psutil.Process(pid) for pid in self.server.workers()]
        return [each for each in found if _kind(each) == name]

    async def act(self, path: str, body: object) -> int:
        """Post to an action on a connection of its own. Returns the status.

        Raises OSError or trio's own errors when there is no answer.
        """
        text = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: bank\r\nSec-Fetch-Site: same-origin\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
        )
        return await self.ask(head.encode() + text)

    async def get(self, path: str) -> int:
        """Get a page on a connection of its own. Returns the status."""
        return await self.ask(f"GET {path} HTTP/1.1\r\nHost: bank\r\n\r\n".encode())

    async def ask(self, request: bytes) -> int:
        """Send a request on a connection of its own. Returns the status."""
        assert self.server is not None
        with trio.fail_after(ANSWER):
            stream = await trio.open_tcp_stream("127.0.0.1", self.server.port)
            async with Client(stream) as client:
                await client.send(request)
                return (await client.reply()).status


def _kind(process: psutil.Process) -> str:
    words: list[str] = []
    with suppress(psutil.NoSuchProcess):  # it has ended since
        words = process.cmdline()
    return "renderer" if words and "node" in Path(words[0]).name else "server"


async def move_money(bank: Bank, name: str, stop: trio.Event, answers: Answers) -> None:
    """Make one transfer after the other until ``stop``, and note what was answered."""
    chance = random.Random(name)
    number = 0
    while not stop.is_set():
        number += 1
        source, target = chance.sample(range(1, ACCOUNTS + 1), 2)
        transfer = {
            "id": f"{name}-{number}",
            "source": source,
            "target": target,
            "cents": chance.randint(1, 500),
        }
        try:
            status = await bank.act("/api/__actions/index/transfer", transfer)
        except (OSError, trio.TooSlowError, trio.BrokenResourceError, AssertionError):
            answers.unknown += 1
            await trio.sleep(0.05)  # a server that is away is not asked as fast as it refuses
            continue
        if status == 200:
            answers.acknowledged.add(str(transfer["id"]))
        else:
            answers.rejected[status] += 1
            await trio.sleep(0.02)


async def read_ledger(bank: Bank) -> Ledger:
    """Wait until no job is left, at most `SETTLED`, and return what is in the database."""
    async with opened(bank.own_url, bank.root) as database:
        left = "select count(*) from fx_jobs where state in ('waiting', 'running')"
        with trio.move_on_after(SETTLED):
            while await database.value(left):  # noqa: ASYNC110  # no event tells
                await trio.sleep(0.1)
        return Ledger(
            cents=int(await database.value("select sum(cents) from accounts")),
            transfers=set(await _column(database, "select id from transfers")),
            booked=Counter(await _column(database, "select transfer from booked")),
            notified=Counter(await _column(database, "select transfer from notified")),
            states={
                row["state"]: row["n"]
                for row in await database.all(
                    dict,
                    "select state, count(*) as n from fx_jobs"
                    " where name <> 'bank.leave' group by state",
                )
            },
        )


async def _column(database: Database, sql: str) -> list[str]:
    return [str(next(iter(row.values()))) for row in await database.all(dict, sql)]


@contextmanager
def _own_cluster() -> Iterator[Cluster]:
    with running_cluster("max_connections=100") as cluster:
        yield cluster


@asynccontextmanager
async def open_bank(
    built: Path,
    engine: Engine,
    pooler: Pooler = "",
    settings: Mapping[str, str] | None = None,
    *,
    stock: bool = False,
) -> AsyncIterator[Bank]:
    """Serve the built bank on an empty database of its own, PostgreSQL behind a proxy.

    With ``pooler`` a pgbouncer of that mode stands between the proxy and PostgreSQL. ``settings``
    are further environment variables of the servers; ``stock`` ones are Hypercorn's own.
    """
    async with AsyncExitStack() as stack:
        if engine == "sqlite":
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fx-bank-")))
            url = f"sqlite:///{folder}/bank.db"
            cluster = proxy = None
            own_url = url
        else:
            cluster = stack.enter_context(_own_cluster())
            own_url = cluster.new_database()
            path = f"{cluster.folder}/.s.PGSQL.5432"
            if pooler:
                folder = stack.enter_context(running_bouncer(cluster, pooler, size=POOLED[pooler]))
                path = f"{folder}/.s.PGSQL.{PORT}"
            proxy = await stack.enter_async_context(open_tcp_proxy(path))
            name = own_url.partition("@/")[2].partition("?")[0]
            url = f"postgresql://fx@127.0.0.1:{proxy.port}/{name}"
        nursery = await stack.enter_async_context(trio.open_nursery())
        bank = Bank(
            built, url, own_url, nursery, cluster, proxy, settings=dict(settings or {}), stock=stock
        )
        if pooler == "transaction":
            bank.settings["FX_DATABASE__PREPARE"] = "false"
        await bank.start()
        yield bank
        nursery.cancel_scope.cancel()
