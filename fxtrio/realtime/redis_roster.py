"""Who is on the channels of all processes, kept in Redis and remembered here.

A hash for each channel holds its members, each with the epoch of its process. An
epoch has a key of its own that expires unless its process renews it: so members of a
process that died leave some seconds later. News travels on the channel itself.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

import coredis
import trio

from fxtrio.realtime.presence import Joined, Left, Member, PresenceEvent
from fxtrio.realtime.redis_link import UNREACHABLE, log, reaching
from fxtrio.realtime.remote import (
    BrokerMessageUnreadable,
    News,
    RemoteMember,
    pack,
    pack_member,
    unpack_member,
)

HEARTBEAT = 5.0
"""Between two renewals of an epoch, and two looks for epochs that ended (seconds)."""

_EPOCH_LIFE = 15
"""How long an epoch outlives its last renewal (seconds)."""

_HASH_LIFE = 3600
"""How long members outlive the last process that knew their channel (seconds)."""

_DELETE_IF_SAME = (
    "if redis.call('hget', KEYS[1], ARGV[1]) == ARGV[2] then "
    "return redis.call('hdel', KEYS[1], ARGV[1]) end"
)
"""A member whose process has a new epoch was written anew, and must stay."""

Notice = Callable[[str, PresenceEvent, Member], None]
"""Takes a channel, what happened there, and the member it happened to."""


class RedisRoster:
    """The members of the channels that this process has subscribers on."""

    def __init__(self, client: coredis.Redis[bytes], prefix: str, notice: Notice) -> None:
        self._client = client
        self._prefix = prefix
        self._notice = notice
        self._epoch = ""
        self._channels: dict[str, dict[str, RemoteMember]] = {}
        self._own: dict[str, dict[str, Member]] = {}
        self._left: dict[str, set[str]] = {}  # while a channel is being loaded

    def channel_key(self, name: str) -> str:
        """Return the Redis channel of a channel."""
        return f"{self._prefix}:channel:{name}"

    def members(self, name: str) -> tuple[Member, ...]:
        """Return the members of a channel, those that were here first first."""
        return tuple(known.member for known in self._channels.get(name, {}).values())

    async def begin_epoch(self) -> None:
        """Make everything known to Redis again, and learn what was missed.

        Raises BrokerUnreachable.
        """
        with reaching("realtime", "store who is there"):
            self._epoch = secrets.token_hex(8)
            await self._renew()
            for name, own in tuple(self._own.items()):
                for member in tuple(own.values()):
                    await self._store(name, member)
                await self._load(name)

    async def open(self, name: str) -> None:
        """Learn the members of a channel whose news already come in. Raises BrokerUnreachable."""
        self._own.setdefault(name, {})
        self._channels.setdefault(name, {})
        with reaching(name, "tell who is there"):
            await self._load(name)

    async def add(self, name: str, member: Member) -> None:
        """Add a member of this process. Raises BrokerUnreachable."""
        self._own.setdefault(name, {})[member.id] = member
        self._put(name, RemoteMember(self._epoch, member))
        with reaching(name, "store who is there"):
            await self._store(name, member)

    async def remove(self, name: str, member: Member) -> None:
        """Take a member of this process out; Redis forgets it with its epoch at the latest."""
        self._own.get(name, {}).pop(member.id, None)
        self._drop(name, member.id)
        who = RemoteMember(self._epoch, member)
        try:
            async with self._client.pipeline(transaction=False) as pipe:
                pipe.hdel(self._hash(name), [member.id])
                pipe.publish(self.channel_key(name), pack(News(False, who)))
        except UNREACHABLE:
            log.debug("The connection broke before %r could leave %r", member.id, name)

    def close(self, name: str) -> None:
        """Forget a channel that this process has no subscribers on."""
        self._own.pop(name, None)
        self._channels.pop(name, None)

    def hear(self, name: str, news: News) -> None:
        """Take news of another process; those of this one are known."""
        if news.who.epoch == self._epoch or name not in self._channels:
            return
        if news.joined:
            self._put(name, news.who)
        else:
            self._left.get(name, set()).add(news.who.member.id)
            self._drop(name, news.who.member.id)

    async def run(self) -> None:
        """Renew the epoch, and find out which others have ended. Ends when cancelled."""
        while True:
            await trio.sleep(HEARTBEAT)
            try:
                await self._renew()
                await self._sweep()
            except UNREACHABLE as error:
                log.debug("No heartbeat while the broker is unreachable: %s", repr(error))

    async def _store(self, name: str, member: Member) -> None:
        who = RemoteMember(self._epoch, member)
        async with self._client.pipeline(transaction=False) as pipe:
            pipe.hset(self._hash(name), {member.id: pack_member(who)})
            pipe.expire(self._hash(name), _HASH_LIFE)
            pipe.publish(self.channel_key(name), pack(News(True, who)))

    async def _load(self, name: str) -> None:
        left = self._left.setdefault(name, set())
        try:
            stored = await self._client.hgetall(self._hash(name))
            present = {}
            for data in stored.values():
                try:
                    who = unpack_member(data)
                except BrokerMessageUnreadable as error:
                    log.warning("%s", error)
                else:
                    present[who.member.id] = who
            for member_id in left:
                present.pop(member_id, None)
            for member_id in [*self._channels.get(name, ())]:
                if member_id not in present and member_id not in self._own.get(name, {}):
                    self._drop(name, member_id)
            for who in present.values():
                if who.epoch != self._epoch:
                    self._put(name, who)
        finally:
            self._left.pop(name, None)

    async def _renew(self) -> None:
        async with self._client.pipeline(transaction=False) as pipe:
            pipe.set(f"{self._prefix}:epoch:{self._epoch}", b"", ex=_EPOCH_LIFE)
            for name in tuple(self._own):
                pipe.expire(self._hash(name), _HASH_LIFE)

    async def _sweep(self) -> None:
        epochs = {who.epoch for known in self._channels.values() for who in known.values()}
        for epoch in epochs - {self._epoch}:
            if not await self._client.exists([f"{self._prefix}:epoch:{epoch}"]):
                await self._bury(epoch)

    async def _bury(self, epoch: str) -> None:
        for name, known in tuple(self._channels.items()):
            for member_id, who in tuple(known.items()):
                if who.epoch == epoch and member_id not in self._own.get(name, {}):
                    self._drop(name, member_id)
                    await self._client.eval(
                        _DELETE_IF_SAME, [self._hash(name)], [member_id, pack_member(who)]
                    )

    def _put(self, name: str, who: RemoteMember) -> None:
        known = self._channels.setdefault(name, {})
        is_new = who.member.id not in known
        known[who.member.id] = who
        if is_new:
            self._notice(name, Joined(who.member), who.member)

    def _drop(self, name: str, member_id: str) -> None:
        who = self._channels.get(name, {}).pop(member_id, None)
        if who is not None:
            self._notice(name, Left(who.member), who.member)

    def _hash(self, name: str) -> str:
        return f"{self._prefix}:members:{name}"
