"""One listening connection to PostgreSQL for the whole process.

Notifications arrive whenever the connection is read, and commands need it exclusively: the
task that waits for notifications yields to them.
"""

from __future__ import annotations

import secrets
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager

import trio
from psycopg import Notify

from fxtrio.db.postgresql.connection import PostgresConnection
from fxtrio.db.postgresql.engine import Postgres
from fxtrio.realtime.stores.backend import Arrival

PLAIN, BASE64, LARGE = "a", "6", "r"
"""How a notification carries a message: as it is, encoded, or not at all."""


class ListeningConnection:
    """A `StoreConnection` to PostgreSQL. Created by `open_connection`."""

    def __init__(
        self,
        connection: PostgresConnection,
        key: Callable[[str], str],
        generation: str,
        answer_timeout: float,
    ) -> None:
        """After ``answer_timeout`` without notifications, the server is probed."""
        self.generation = generation
        self._connection = connection
        self._key = key
        self._answer_timeout = answer_timeout
        self._names: dict[str, str] = {}  # by their names on the server
        self._lock = trio.Lock()
        self._waiting = trio.CancelScope()
        self._wanted = 0  # waiting commands
        self._arrival: Arrival | None = None
        connection.raw.add_notify_handler(self._hear)

    async def run(self, arrival: Arrival) -> None:
        """Pass on incoming data; raises when the connection is lost."""
        self._arrival = arrival
        pgconn = self._connection.raw.pgconn
        while True:
            async with self._lock:
                with trio.move_on_after(self._answer_timeout) as self._waiting:
                    if not self._wanted:
                        await trio.lowlevel.wait_readable(pgconn.socket)
                if self._waiting.cancelled_caught and not self._wanted:
                    with trio.fail_after(self._answer_timeout):
                        await self._connection.run("select 1")
                pgconn.consume_input()
                while (news := pgconn.notifies()) is not None:
                    self._hear(Notify(news.relname.decode(), news.extra.decode(), news.be_pid))
            await trio.lowlevel.checkpoint()

    async def subscribe(self, *names: str) -> None:
        """Receive what is sent to channels from now on."""
        channels = {f"fx_{self._key(name)}": name for name in names}
        self._names.update(channels)
        await self._command("".join(f"listen {channel};" for channel in channels))

    async def unsubscribe(self, name: str) -> None:
        """Get no more of it."""
        channel = f"fx_{self._key(name)}"
        self._names.pop(channel, None)
        await self._command(f"unlisten {channel}")

    async def _command(self, sql: str) -> None:
        self._wanted += 1
        self._waiting.cancel()
        try:
            with trio.fail_after(self._answer_timeout):
                async with self._lock:
                    await self._connection.run_script(sql)
        finally:
            self._wanted -= 1

    def _hear(self, news: Notify) -> None:
        name = self._names.get(news.channel)
        if name is None or self._arrival is None:  # messages before `run` are in the log
            return
        place, _, text = news.payload.partition(" ")
        kind, text = text[:1], text[1:]
        ident = (int(place), 0) if place.isdecimal() else None
        if kind == PLAIN:
            self._arrival(name, ident, text.encode())
        elif kind == BASE64:
            self._arrival(name, ident, b64decode(text))
        else:
            self._arrival(name, ident, None)


@asynccontextmanager
async def open_connection(
    engine: Postgres,
    key: Callable[[str], str],
    names: Collection[str],
    *,
    forgets: bool,
    answer_timeout: float,
) -> AsyncIterator[ListeningConnection]:
    """Open a connection that listens to ``names`` while the block lasts.

    With ``forgets``, messages that were missed before count as lost.
    """
    connection = await engine.open_connection()
    try:
        await connection.run("set application_name = 'fx channels'")
        # A server that restarted has lost its unlogged tables.
        [(began,)] = (await connection.run("select pg_postmaster_start_time()::text")).rows
        generation = secrets.token_hex(8) if forgets else began
        listening = ListeningConnection(connection, key, generation, answer_timeout)
        await listening.subscribe(*names)
        yield listening
    finally:
        connection.finish()
