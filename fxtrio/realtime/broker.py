"""The interfaces between publishers and subscribers.

`channel` needs only a `Broker`, which an external message broker can implement. A broker
delivers to a `Subscriber`, which has its own outbox: a slow subscriber fills only that one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

import msgspec

from fxtrio.errors import PlacedError, ValueInvalid
from fxtrio.realtime.frames import Frame, Ident, Message
from fxtrio.realtime.presence import Member, Missed, Notice

INTERNAL = "\0"
"""Prefix of channels for messages between the processes themselves."""


class ChannelNameInvalid(ValueInvalid):
    """A channel has a name that is the framework's own."""

    remedy = "Choose another name, and check those that visitors may choose"

    def __init__(self, name: str) -> None:
        cause = "names that begin with a NUL character are the framework's own"
        super().__init__(f"channel({name!r})", cause)
        self.channel = name


def require_public_name(name: str) -> None:
    """Raise ChannelNameInvalid for a name of the framework's own channels."""
    if name.startswith(INTERNAL):
        raise ChannelNameInvalid(name)


class BrokerMissing(PlacedError):
    """`channel`, `publish` or `subscribe` was called without a broker where none runs."""

    def __init__(
        self,
        channel: str,
        *,
        call: Literal["channel", "publish", "subscribe"] = "channel",
        cause: str = "this app has no 'app.state.fx_broker'. Serve it with fxtrio, "
        "or pass broker=…",
    ) -> None:
        super().__init__(f"{call}({channel!r})", cause)
        self.channel = channel


class PresenceUnavailable(PlacedError):
    """A custom broker does not support presence."""

    remedy = "Give it the method 'members(name)' (see PresenceBroker)"

    def __init__(self, channel: str, broker: object) -> None:
        super().__init__(
            f"channel({channel!r})", f"{type(broker).__name__} does not support presence"
        )
        self.channel = channel


class Subscriber(Protocol):
    """One subscription, as a broker sees it. Hashable. Only `make_room` can wait."""

    @property
    def member(self) -> Member:
        """Its member, for presence."""
        ...

    def deliver(self, message: Message | Frame) -> None:
        """Take a message; when its outbox is full, `realtime.overflow` decides."""
        ...

    def offer(self, frame: Frame, *, urgent: bool = False) -> bool:
        """Take a frame, or return False when the outbox is full but may not stay so.

        A burst can fill the outbox of a client that reads well, before its writer had
        a turn or the network took it. See `make_room`. An ``urgent`` frame is worth a
        write of its own, if nothing is in front of it.
        """
        ...

    @property
    def idle(self) -> bool:
        """Whether its client reads as fast as messages come: all it took is sent."""
        ...

    async def make_room(self, patience: float) -> bool:
        """Wait briefly until an `offer` is possible; return False if it is hopeless.

        That is the case if its client has read nothing for ``patience`` seconds, or is far
        behind nevertheless. Use `deliver` then.
        """
        ...

    def notice(self, event: Notice) -> None:
        """Take news of another member, or of messages that were lost (`Missed`)."""
        ...


PresenceListeners = dict[Subscriber, None]
"""The subscribers of a channel that receive news of its members."""


class LazyListener(Subscriber, Protocol):
    """A subscriber that receives news of members only while something reads them.

    Most subscribers have no such reader. A broker that does not know these methods notifies
    every subscriber, which makes each join cost as much as the channel has members.
    """

    def register(self, listeners: PresenceListeners) -> None:
        """Be among ``listeners`` from now on, whenever something reads presence events."""
        ...

    def unregister(self, listeners: PresenceListeners) -> None:
        """Leave ``listeners`` for good."""
        ...


@runtime_checkable
class Broker(Protocol):
    """Carries messages to the subscribers of named channels.

    Each subscriber receives the messages of one task to one channel in order. For messages
    that cannot be delivered, `Subscriber.notice` receives a `Missed`.
    """

    async def subscribe(self, name: str, subscriber: Subscriber) -> None:
        """Deliver messages to ``name`` from now on to ``subscriber``."""
        ...

    async def unsubscribe(self, name: str, subscriber: Subscriber) -> None:
        """Deliver no more to ``subscriber``, and forget ``name`` with its last one.

        Also called when `subscribe` failed or was cancelled midway, and then
        perhaps for a subscriber the broker has never seen.
        """
        ...

    async def publish(self, name: str, message: Message) -> None:
        """Deliver ``message`` to all subscribers of ``name``, waiting for none of them."""
        ...


@runtime_checkable
class PresenceBroker(Broker, Protocol):
    """A broker with presence, which `Channel.subscribers` needs.

    It calls `Subscriber.notice` with a `Joined` or `Left` for every other member.
    """

    def members(self, name: str) -> tuple[Member, ...]:
        """Return the members of a channel, in the order they joined."""
        ...


class Replay(msgspec.Struct, frozen=True):
    """A part of the log of a channel."""

    missed: Missed | None
    """The messages that the log no longer has, between the requested place and the first one."""

    messages: Sequence[tuple[Ident, Frame | None]]
    """Messages with their places, oldest first; None where something only marks a place."""


@runtime_checkable
class LogBroker(Broker, Protocol):
    """A broker that numbers the messages of a channel and keeps the latest ones in a log.

    Its frames have an `ident`. `subscribe` of fx.realtime resumes from the log.
    """

    async def begin_log(self, name: str) -> Ident | None:
        """See to it that a channel with subscribers has a log, and return its end.

        None if the settings ask for no log. Raises BrokerUnreachable.
        """
        ...

    async def read_log(self, name: str, after: Ident, limit: int) -> Replay:
        """Return at most ``limit`` messages after a place. Raises BrokerUnreachable."""
        ...
