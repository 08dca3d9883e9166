"""Redis as the store of a shared broker: publish and subscribe, streams, and hashes.

A message is appended to the stream of its channel and published in one script, with its
place in front of it. Streams are bounded by `realtime.history` and in bytes, and expire.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from coredis.exceptions import NoScriptError
from coredis.retry import NoRetryPolicy

from fxtrio.config import RealtimeConfig
from fxtrio.process_identity import machine
from fxtrio.realtime.frames import Ident
from fxtrio.realtime.stores.backend import (
    EPOCH_LIFE,
    LOG_LIFE,
    MEMBERS_LIFE,
    START,
    UNSUBSCRIBED_LOG_LIFE,
    Arrival,
    Logged,
    Part,
    StoreConnection,
)
from fxtrio.realtime.stores.redis_client import (
    UNREACHABLE,
    Client,
    RedisCommands,
    RedisServer,
    open_commands,
)
from fxtrio.realtime.stores.store_broker import SharedBroker, open_shared_broker
from fxtrio.realtime.stores.store_url import split_prefix
from fxtrio.realtime.stores.wire import RemoteMember, pack_member

HISTORY_BYTES = 16 * 1024 * 1024
"""Messages of any one size take no more of a stream than this (bytes)."""

_RENEWED_AT_ONCE = 500  # channels in one script

_PUBLISH = """
local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[3], '*', 'm', ARGV[1])
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[4]) end
redis.call('PUBLISH', ARGV[2], id .. ' ' .. ARGV[1])
"""

_BEGIN = """
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local id = newest[1] and newest[1][1] or redis.call('XADD', KEYS[1], '*', 'm', '')
redis.call('EXPIRE', KEYS[1], ARGV[1])
return id
"""

_READ = """
local known = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])
local found = redis.call('XRANGE', KEYS[1], ARGV[2], '+', 'COUNT', ARGV[3])
if #known == 0 and #found == 0 then
  local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
  local id = newest[1] and newest[1][1] or redis.call('XADD', KEYS[1], '*', 'm', '')
  found = {{id, {'m', ''}}}
end
redis.call('EXPIRE', KEYS[1], ARGV[4])
return {#known, found}
"""

_KEEP = """
for index, key in ipairs(KEYS) do redis.call('EXPIRE', key, ARGV[1 + (index - 1) % 2]) end
"""

_ERASE = """
for index = 1, #ARGV, 2 do
  if ARGV[index + 1] == '' or redis.call('HGET', KEYS[1], ARGV[index]) == ARGV[index + 1] then
    redis.call('HDEL', KEYS[1], ARGV[index])
  end
end
"""
"""A member that a process stored again, in a new epoch, remains."""


def open_store_broker(
    settings: RealtimeConfig, *, name: str = ""
) -> AbstractAsyncContextManager[SharedBroker]:
    """Run a broker on the Redis server of ``settings.broker`` while the block lasts.

    ``redis://[user:password@]host[:port][/db]``, ``rediss://`` or ``unix://``. Apps that
    share a server are separated by their ``name``, or by ``?prefix=``. Raises
    BrokerUnreachable if the server is unreachable at first; later outages are waited for.
    """
    return open_shared_broker(_open(settings, name))


@asynccontextmanager
async def _open(settings: RealtimeConfig, name: str) -> AsyncIterator[RedisBackend]:
    bare, prefix = split_prefix(settings.broker, name=name)
    server = RedisServer(bare, settings, settings.answer_timeout)
    async with open_commands(server) as commands:
        yield RedisBackend(server, commands, prefix, settings.history)


class RedisBackend:
    """A `Backend` on a Redis server (5.0 and later)."""

    unreachable: tuple[type[Exception], ...] = UNREACHABLE

    def __init__(
        self, server: RedisServer, commands: RedisCommands, prefix: str, history: int
    ) -> None:
        self._server = server
        self._ask = commands.ask
        self._prefix = prefix
        self._history = history
        self._hashes: dict[str, str] = {}  # of scripts, by their text

    def connect(self, names: Collection[str]) -> AbstractAsyncContextManager[StoreConnection]:
        """Open a connection that is subscribed to ``names``."""
        return open_connection(self._server, self._channel(""), names)

    async def publish(self, name: str, data: bytes) -> None:
        """Log a message and send it to all processes, in one order for all."""
        if not self._history:
            await self._ask(lambda client: client.publish(self._channel(name), data))
            return
        count = min(self._history, max(1, HISTORY_BYTES // len(data)))
        arguments = [data, self._channel(name), count, UNSUBSCRIBED_LOG_LIFE]
        await self._run(_PUBLISH, [self._log(name)], arguments)

    async def notify(self, name: str, *data: bytes) -> None:
        """Send data without storing it in a log."""

        async def send(client: Client) -> None:
            async with client.pipeline(transaction=False) as pipe:
                for one in data:
                    pipe.publish(self._channel(name), one)

        await self._ask(send)

    async def begin(self, name: str) -> Ident:
        """See to it that a channel has a log, and return the place of its newest message."""
        if not self._history:
            return START
        return read_ident(await self._run(_BEGIN, [self._log(name)], [LOG_LIFE]))

    async def newest(self, names: Sequence[str]) -> list[Ident | None]:
        """Return the place of the newest message of each log; None without a log."""
        if not self._history:
            return [None] * len(names)

        async def look(client: Client) -> list[Any]:
            async with client.pipeline(transaction=False) as pipe:
                pending = [pipe.xrevrange(self._log(name), count=1) for name in names]
            return [await one for one in pending]

        found = await self._ask(look)
        return [read_ident(one[0].identifier) if one else None for one in found]

    async def read(self, name: str, after: Ident, limit: int) -> Part:
        """Return at most ``limit`` messages after a place, oldest first."""
        if not self._history:
            return Part(False, [Logged(START, b"")])
        first, second = after
        arguments = [f"{first}-{second}", f"{first}-{second + 1}", limit, LOG_LIFE]
        known, found = await self._run(_READ, [self._log(name)], arguments)
        return Part(bool(known), [Logged(read_ident(ident), data) for ident, (_, data) in found])

    async def keep(self, names: Sequence[str]) -> None:
        """Let logs and members live on."""
        for start in range(0, len(names), _RENEWED_AT_ONCE):
            part = names[start : start + _RENEWED_AT_ONCE]
            keys = [key for name in part for key in (self._members(name), self._log(name))]
            await self._run(_KEEP, keys, [MEMBERS_LIFE, LOG_LIFE])
        await self._ask(lambda client: client.expire(self._machine(), MEMBERS_LIFE))

    async def enter(self, epoch: str) -> list[str]:
        """Make a process known; return all processes that are, on its machine."""
        key, here = self._epoch(epoch), self._machine()
        await self._ask(lambda client: client.set(key, b"", ex=EPOCH_LIFE))
        await self._ask(lambda client: client.sadd(here, [epoch]))
        await self._ask(lambda client: client.expire(here, MEMBERS_LIFE))
        known = await self._ask(lambda client: client.smembers(here))
        return [one.decode("ascii", "replace") for one in known]

    async def renew(self, epoch: str) -> bool:
        """Say that a process lives; False when it has been silent for too long."""
        key = self._epoch(epoch)
        return bool(await self._ask(lambda client: client.expire(key, EPOCH_LIFE)))

    async def end(self, epoch: str) -> None:
        """Forget a process."""
        await self._ask(lambda client: client.delete([self._epoch(epoch)]))
        await self._ask(lambda client: client.srem(self._machine(), [epoch]))

    async def find_ended(self, epochs: Collection[str]) -> set[str]:
        """Return the processes that have ended, or been silent for `EPOCH_LIFE`."""

        async def look(client: Client) -> set[str]:
            async with client.pipeline(transaction=False) as pipe:
                pending = {epoch: pipe.exists([self._epoch(epoch)]) for epoch in epochs}
            return {epoch for epoch, exists in pending.items() if not await exists}

        return await self._ask(look)

    async def store(self, name: str, members: Sequence[RemoteMember]) -> None:
        """Keep members of a channel."""
        packed = {who.member.id: pack_member(who) for who in members}

        async def write(client: Client) -> None:
            async with client.pipeline(transaction=False) as pipe:
                pipe.hset(self._members(name), packed)
                pipe.expire(self._members(name), MEMBERS_LIFE)

        await self._ask(write)

    async def erase(self, name: str, members: Mapping[str, bytes | None]) -> None:
        """Forget members by their id; with bytes, unless other ones are stored there by now."""
        arguments = [arg for key, packed in members.items() for arg in (key, packed or b"")]
        await self._run(_ERASE, [self._members(name)], arguments)

    async def load(self, name: str) -> list[bytes]:
        """Return the members of a channel, packed."""
        stored = await self._ask(lambda client: client.hgetall(self._members(name)))
        return list(stored.values())

    async def _run(self, script: str, keys: list[str], arguments: Sequence[Any]) -> Any:
        """Run a script by its digest; send its text if Redis does not know it."""
        known = self._hashes.get(script)
        if known is None:
            known = str((await self._ask(lambda client: client.script_load(script))).decode())
            self._hashes[script] = known
        digest, args = known, list(arguments)
        try:
            return await self._ask(lambda client: client.evalsha(digest, keys, args))
        except NoScriptError:  # Redis was restarted
            return await self._ask(lambda client: client.eval(script, keys, args))

    def _channel(self, name: str) -> str:
        return f"{self._prefix}:channel:{name}"

    def _log(self, name: str) -> str:
        return f"{self._prefix}:log:{name}"

    def _members(self, name: str) -> str:
        return f"{self._prefix}:members:{name}"

    def _epoch(self, epoch: str) -> str:
        return f"{self._prefix}:epoch:{epoch}"

    def _machine(self) -> str:
        return f"{self._prefix}:machine:{machine()}"


class RedisConnection:
    """A `StoreConnection` to Redis. Created by `open_connection`."""

    def __init__(self, pubsub: Any, prefix: str, generation: str) -> None:
        self.generation = generation
        self._pubsub = pubsub
        self._prefix = prefix

    async def run(self, arrival: Arrival) -> None:
        """Pass on incoming data; raises when the connection is lost."""
        skip = len(self._prefix)
        while True:
            message = await self._pubsub.get_message()
            if message is not None and message["type"] == "message":
                name, data = message["channel"].decode()[skip:], message["data"]
                ident, data = split(data)
                arrival(name, ident, data)

    async def subscribe(self, name: str) -> None:
        """Receive the messages of a channel from now on."""
        await self._pubsub.subscribe(self._prefix + name)

    async def unsubscribe(self, name: str) -> None:
        """Get no more of it."""
        await self._pubsub.unsubscribe(self._prefix + name)


@asynccontextmanager
async def open_connection(
    server: RedisServer, prefix: str, names: Collection[str]
) -> AsyncIterator[RedisConnection]:
    """Open a connection that is subscribed to ``names`` while the block lasts.

    It has its own pool, since a pool never recovers the slot of a broken connection. After
    some silence Redis is probed. coredis reads ahead without a bound, so all its messages are
    passed at once to a callback that does not wait. Its own reconnecting is not used: it would
    send a command twice that may have arrived, and it gives up on a server that hangs.
    """
    async with (
        server.new_client() as client,
        client.pubsub(
            ignore_subscribe_messages=True,
            retry_policy=NoRetryPolicy(),
            channels=[prefix + name for name in names],
            subscription_timeout=server.answer_timeout,
            max_idle_seconds=server.answer_timeout,
        ) as pubsub,
    ):
        # Queried last: a server that restarts after this breaks the connection.
        info = await client.info("server")
        yield RedisConnection(pubsub, prefix, str(info["run_id"]))


def split(data: bytes) -> tuple[Ident | None, bytes]:
    """Return the place in front of a logged message, and the message."""
    if not data[:1].isdigit():
        return None, data
    ident, _, rest = data.partition(b" ")
    try:
        return read_ident(ident), rest
    except ValueError:  # not ours: `unpack` will report it
        return None, data


def read_ident(text: bytes | str) -> Ident:
    """Return the place that Redis writes as ``milliseconds-number``."""
    first, _, second = (text if isinstance(text, bytes) else text.encode()).partition(b"-")
    return int(first), int(second)
