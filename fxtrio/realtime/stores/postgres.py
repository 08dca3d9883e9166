"""PostgreSQL as the store of a shared broker: NOTIFY, and unlogged tables for logs and members.

One statement adds a message to the log of its channel and sends the NOTIFY. Statements of one
channel are serialized, so log positions are in the order of the notifications. Messages that
are too large for NOTIFY (8000 bytes) are read from the log.
"""

from __future__ import annotations

import secrets
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from hashlib import blake2b
from typing import Any

import psycopg
import trio
from psycopg import Notify

from fxtrio.config import DatabaseConfig, RealtimeConfig
from fxtrio.db.errors import DatabaseBusy, PoolerUnsuitable
from fxtrio.db.postgresql.connection import PostgresConnection
from fxtrio.db.postgresql.engine import Postgres
from fxtrio.process_identity import machine
from fxtrio.realtime.frames import Ident
from fxtrio.realtime.stores.backend import (
    EPOCH_LIFE,
    LOG_LIFE,
    MEMBERS_LIFE,
    Arrival,
    Logged,
    Part,
    StoreConnection,
)
from fxtrio.realtime.stores.store_broker import SharedBroker, open_shared_broker
from fxtrio.realtime.stores.store_url import APP_PREFIX, split_prefix
from fxtrio.realtime.stores.wire import RemoteMember, pack_member

# Unlogged: after a crash of the server the tables are empty, which costs presence nothing and
# messages no more than a restart. A place is the time in microseconds, so that one that was
# used before a crash is not used again.
SETUP = """
begin;
select pg_advisory_xact_lock(7307, 1);
create unlogged table if not exists fx_messages (
    channel text not null, id bigint not null, data bytea not null,
    at timestamptz not null default clock_timestamp(), primary key (channel, id));
create index if not exists fx_messages_at on fx_messages (at);
create unlogged table if not exists fx_members (
    channel text not null, id text not null, packed bytea not null,
    at timestamptz not null default clock_timestamp(), primary key (channel, id));
create unlogged table if not exists fx_processes (
    epoch text primary key, machine text not null,
    at timestamptz not null default clock_timestamp());

create or replace function fx_place(wanted text, message bytea) returns bigint
language plpgsql as $$
declare
    place bigint;
begin
    perform pg_advisory_xact_lock(hashtextextended(wanted, 7307));
    select max(id) into place from fx_messages where channel = wanted;
    if place is not null and message is null then
        return place;
    end if;
    place := greatest((extract(epoch from clock_timestamp()) * 1000000)::bigint, place + 1);
    insert into fx_messages (channel, id, data) values (wanted, place, coalesce(message, ''));
    return place;
end $$;

create or replace function fx_begin(wanted text) returns bigint
language sql as $$ select fx_place(wanted, null) $$;

create or replace function fx_publish(wanted text, message bytea, told text, history int)
returns void
language plpgsql as $$
declare
    place bigint := fx_place(wanted, message);
begin
    perform pg_notify('fx_' || wanted, place || ' ' || told);
    if random() < 0.02 then
        delete from fx_messages where channel = wanted and id < (
            select id from fx_messages where channel = wanted
            order by id desc offset greatest(history - 1, 0) limit 1);
    end if;
end $$;
commit;
"""
"""May be run by several processes at once, and again and again."""


POOL, WAITERS = 4, 1000
"""Connections for publishing, and tasks that may wait for one; more are rejected (count)."""

PLAIN, BASE64, LARGE = "a", "6", "r"
"""How a notification carries a message: as it is, encoded, or not at all."""

_INLINE = 7900
"""Characters of a message that NOTIFY carries beside its place."""

_NEWEST = "select channel, max(id) from fx_messages where channel = any($1::text[]) group by 1"
_READ = "select id, data from fx_messages where channel = $1 and id >= $2 order by id limit $3"
_KEEP = """update fx_messages set at = clock_timestamp() where (channel, id) in
    (select channel, max(id) from fx_messages where channel = any($1::text[]) group by channel)"""
_KEEP_MEMBERS = """update fx_members set at = clock_timestamp()
    where channel = any($1::text[]) and at < clock_timestamp() - make_interval(secs => $2)"""
_EXPIRED = "delete from {} where at < clock_timestamp() - make_interval(secs => $1)"
_ENTER = """insert into fx_processes (epoch, machine) values ($1, $2)
    on conflict (epoch) do update set at = clock_timestamp()"""
_RENEW = """update fx_processes set at = clock_timestamp()
    where epoch = $1 and at > clock_timestamp() - make_interval(secs => $2)"""
_ALIVE = """select epoch from fx_processes
    where epoch = any($1::text[]) and at > clock_timestamp() - make_interval(secs => $2)"""
_STORE = """insert into fx_members (channel, id, packed)
    select $1, new.id, new.packed from unnest($2::text[], $3::bytea[]) as new (id, packed)
    on conflict (channel, id) do update set packed = excluded.packed, at = clock_timestamp()"""
_ERASE = """delete from fx_members as old
    using unnest($2::text[], $3::bytea[]) as gone (id, packed)
    where old.channel = $1 and old.id = gone.id
    and (gone.packed is null or gone.packed = old.packed)"""


def open_store_broker(
    settings: RealtimeConfig, *, name: str = ""
) -> AbstractAsyncContextManager[SharedBroker]:
    """Run a broker on the PostgreSQL database of ``settings.broker`` while the block lasts.

    libpq interprets ``postgresql://…``. Apps that share a database are separated by their
    ``name``, or by ``?prefix=``. Raises BrokerUnreachable if the server is unreachable at
    first; later outages are waited for.
    """
    return open_shared_broker(_open(settings, name))


@asynccontextmanager
async def _open(settings: RealtimeConfig, name: str) -> AsyncIterator[PostgresBackend]:
    bare, prefix = split_prefix(settings.broker, name=name)
    database = DatabaseConfig(
        url=bare,
        pool=POOL,
        waiters=WAITERS,
        connect_timeout=settings.connect_timeout,
        tcp_user_timeout=settings.tcp_user_timeout,
        keepalive_idle=settings.keepalive_idle,
        keepalive_interval=settings.keepalive_interval,
        keepalive_count=settings.keepalive_count,
    )
    engine = Postgres(database)
    try:
        yield PostgresBackend(engine, prefix, settings)
    finally:
        engine.close()


class PostgresBackend:
    """A `Backend` on a PostgreSQL database."""

    unreachable: tuple[type[Exception], ...] = (
        psycopg.OperationalError,
        psycopg.InterfaceError,
        DatabaseBusy,
        OSError,
        trio.TooSlowError,
        trio.ClosedResourceError,
    )

    def __init__(self, engine: Postgres, prefix: str, settings: RealtimeConfig) -> None:
        self._engine = engine
        self._prefix = prefix
        self._history = settings.history
        self._answer_timeout = settings.answer_timeout
        self._is_set_up = False

    @asynccontextmanager
    async def connect(self, names: Collection[str]) -> AsyncIterator[StoreConnection]:
        """Open a connection that is subscribed to ``names``. Raises PoolerUnsuitable."""
        if not self._is_set_up:
            await self._engine.look()
            if self._engine.shared:
                raise PoolerUnsuitable("realtime.broker", "channels")
            await self._do(lambda connection: connection.run_script(SETUP))
            self._is_set_up = True
        forgets = not self._history
        async with _open_listening(
            self._engine,
            self._key,
            names,
            forgets=forgets,
            answer_timeout=self._answer_timeout,
        ) as connection:
            yield connection

    async def publish(self, name: str, data: bytes) -> None:
        """Log a message and send it to all processes, in one order for all."""
        key = self._key(name)
        await self._query(
            "select fx_publish($1, $2, $3, $4)", key, data, notify_payload(data), self._history
        )

    async def notify(self, name: str, *data: bytes) -> None:
        """Send data without a log entry; only oversized data goes through the log."""
        for one in data:
            if (text := notify_payload(one)) == LARGE:
                await self.publish(name, one)
            else:
                await self._query("select pg_notify('fx_' || $1, $2)", self._key(name), " " + text)

    async def begin(self, name: str) -> Ident:
        """See to it that a channel has a log, and return the place of its newest message."""
        [(ident,)] = await self._query("select fx_begin($1)", self._key(name))
        return ident, 0

    async def newest(self, names: Sequence[str]) -> list[Ident | None]:
        """Return the place of the newest message of each log; None without a log."""
        found = dict(await self._query(_NEWEST, [self._key(name) for name in names]))
        idents = [found.get(self._key(name)) for name in names]
        return [None if ident is None else (ident, 0) for ident in idents]

    async def read(self, name: str, after: Ident, limit: int) -> Part:
        """Return at most ``limit`` messages after a place, oldest first."""
        rows = await self._query(_READ, self._key(name), after[0], limit + 1)
        if not rows:
            return Part(False, [Logged(await self.begin(name), b"")])
        whole = rows[0][0] == after[0]
        found = rows[1:] if whole else rows[:limit]
        return Part(whole, [Logged((ident, 0), data) for ident, data in found])

    async def keep(self, names: Sequence[str]) -> None:
        """Renew logs and members, and delete expired ones."""
        keys = [self._key(name) for name in names]
        await self._query(_KEEP, keys)
        await self._query(_KEEP_MEMBERS, keys, MEMBERS_LIFE / 2)
        await self._query(_EXPIRED.format("fx_messages"), LOG_LIFE)
        for table in ("fx_members", "fx_processes"):
            await self._query(_EXPIRED.format(table), MEMBERS_LIFE)

    async def enter(self, epoch: str) -> list[str]:
        """Make a process known; return all processes that are, on its machine."""
        here = f"{self._prefix}:{machine()}"
        await self._query(_ENTER, epoch, here)
        rows = await self._query("select epoch from fx_processes where machine = $1", here)
        return [epoch for (epoch,) in rows]

    async def renew(self, epoch: str) -> bool:
        """Say that a process lives; False when it has been silent for too long."""
        return bool(await self._query(_RENEW + " returning 1", epoch, EPOCH_LIFE))

    async def end(self, epoch: str) -> None:
        """Forget a process."""
        await self._query("delete from fx_processes where epoch = $1", epoch)

    async def find_ended(self, epochs: Collection[str]) -> set[str]:
        """Return the processes that have ended, or been silent for `EPOCH_LIFE`."""
        alive = await self._query(_ALIVE, list(epochs), EPOCH_LIFE)
        return {*epochs} - {epoch for (epoch,) in alive}

    async def store(self, name: str, members: Sequence[RemoteMember]) -> None:
        """Keep members of a channel."""
        ids = [who.member.id for who in members]
        await self._query(_STORE, self._key(name), ids, [pack_member(who) for who in members])

    async def erase(self, name: str, members: Mapping[str, bytes | None]) -> None:
        """Forget members by their id; with bytes, unless other ones are stored there by now."""
        await self._query(_ERASE, self._key(name), [*members], [*members.values()])

    async def load(self, name: str) -> list[bytes]:
        """Return the members of a channel, packed."""
        sql = "select packed from fx_members where channel = $1 order by at"
        return [data for (data,) in await self._query(sql, self._key(name))]

    async def _query(self, sql: str, *args: Any) -> list[Any]:
        return list((await self._do(lambda connection: connection.run(sql, args))).rows)

    async def _do(self, work: Callable[[Any], Any]) -> Any:
        """Call ``work`` with a connection, within the timeout of a store."""
        with trio.fail_after(self._answer_timeout):
            connection = await self._engine.acquire()
            try:
                return await work(connection)
            finally:
                self._engine.release(connection)

    def _key(self, name: str) -> str:
        """Return the key of a channel: of a fixed length, and valid as text."""
        text = f"{self._prefix}:{name}".encode("utf-8", "surrogatepass")
        # "fx:shop" and "room" are not "fx" and "shop:room".
        person = b"fx.app" if self._prefix.startswith(APP_PREFIX) else b""
        return blake2b(text, digest_size=16, person=person).hexdigest()


def notify_payload(data: bytes) -> str:
    """Return a message as NOTIFY carries it, in whatever encoding: ASCII, or where to find it."""
    if len(data) < _INLINE and data.isascii() and b"\0" not in data:
        return PLAIN + data.decode("ascii")
    if len(data) * 4 // 3 + 4 < _INLINE:
        return BASE64 + b64encode(data).decode("ascii")
    return LARGE


class ListeningConnection:
    """A `StoreConnection` to PostgreSQL: one for the whole process. Created by `_open_listening`.

    Notifications arrive whenever the connection is read, and commands need it exclusively: the
    task that waits for notifications yields to them.
    """

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
        """Receive the messages of channels from now on."""
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
async def _open_listening(
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
