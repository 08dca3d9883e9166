"""What stands between those who publish and those who subscribe.

`Broker` is all that `channel` needs; an external message broker can back it. What a
broker delivers to is a `Subscriber` with an outbox of its own: whoever reads slowly
fills that one and nobody else's.
"""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from fxtrio.errors import FxtrioError, ValueRefused
from fxtrio.realtime.frames import Frame, Message
from fxtrio.realtime.presence import Member, Notice

INTERNAL = "\0"
"""What the names of channels begin with by which processes speak among themselves."""


class ChannelNameRefused(ValueRefused):
    """A channel has a name that is the framework's own."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"channel({name!r}): names that begin with a NUL character are the framework's own. "
            "Choose another name, and check those that visitors may choose."
        )
        self.channel = name


def refuse_internal(name: str) -> None:
    """Raise ChannelNameRefused for a name of the framework's own channels."""
    if name.startswith(INTERNAL):
        raise ChannelNameRefused(name)


class BrokerMissing(FxtrioError):
    """`channel` or `publish` was used where no broker runs, and was given none."""

    def __init__(
        self,
        channel: str,
        *,
        call: Literal["channel", "publish"] = "channel",
        cause: str = "this app has no 'app.state.fx_broker'. Serve it with fxtrio, "
        "or pass broker=…",
    ) -> None:
        super().__init__(f"{call}({channel!r}): {cause}.")
        self.channel = channel


class PresenceUnavailable(FxtrioError):
    """A custom broker does not know who else is on a channel."""

    def __init__(self, channel: str, broker: object) -> None:
        super().__init__(
            f"channel({channel!r}): {type(broker).__name__} does not tell who is there. "
            "Give it the method 'members(name)' (see PresenceBroker)."
        )
        self.channel = channel


class Subscriber(Protocol):
    """One subscription, as a broker sees it. Hashable. Only `make_room` can wait."""

    @property
    def member(self) -> Member:
        """Who it is, for presence."""
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
        """Wait a moment for an `offer` to become possible; False when it is too late.

        That is when its client has taken nothing for ``patience`` seconds, or is far
        behind all the same. What is left is `deliver`.
        """
        ...

    def notice(self, event: Notice) -> None:
        """Take news of another member, or of messages that were lost (`Missed`)."""
        ...


@runtime_checkable
class Broker(Protocol):
    """Carries messages to the subscribers of named channels.

    What one task publishes to one channel reaches each subscriber in that order. What a
    subscriber cannot be given it is told of: `Subscriber.notice` gets a `Missed` for it.
    """

    async def subscribe(self, name: str, subscriber: Subscriber) -> None:
        """Deliver what is published to ``name`` from now on to ``subscriber``."""
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
    """A broker that also knows who is there; `Channel.subscribers` needs it.

    It gives `Subscriber.notice` a `Joined` or `Left` for every other member.
    """

    def members(self, name: str) -> tuple[Member, ...]:
        """Return the members of a channel, in the order they joined."""
        ...
