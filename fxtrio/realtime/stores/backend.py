"""The interface of a shared store for `SharedBroker`: connection, logs, and presence.

Besides the live messages, each channel has a log of the latest ones, from which a
disconnected process reads the messages it missed. A log is bounded, and outlives its
readers by about a minute. Redis and PostgreSQL are such stores.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Protocol

import msgspec

from fxtrio.errors import BrokerUnreachable
from fxtrio.realtime.frames import Ident
from fxtrio.realtime.stores.wire import RemoteMember

START: Ident = (0, 0)

ANSWER_LIMIT = 5.0
"""Timeout of a store's response, and of a subscriber's wait for the store (seconds)."""

LOG_LIFE = 75
"""How long a log outlives its last use (seconds)."""

UNSUBSCRIBED_LOG_LIFE = 15
"""The same for the log of a channel that had no subscriber when the log began (seconds)."""

MEMBERS_LIFE = 3600
"""How long members outlive the last process that knew their channel (seconds)."""

EPOCH_LIFE = 12
"""How long an epoch outlives its last renewal (seconds)."""

Arrival = Callable[[str, Ident | None, bytes | None], None]
"""Callback with a channel's name, a log position, and data; never waits.

Without a position the data is in no log. Without data it must be read from the log.
"""


class Logged(msgspec.Struct, frozen=True):
    """A message in a log."""

    ident: Ident
    data: bytes
    """Empty where it only marks a place."""


class Part(msgspec.Struct, frozen=True):
    """A part of a log."""

    whole: bool
    """Whether it continues the log without a gap; else messages may be lost."""

    messages: Sequence[Logged]


class StoreConnection(Protocol):
    """One subscription connection."""

    generation: str
    """Changes when the store may have forgotten something, as after a restart."""

    async def run(self, arrival: Arrival) -> None:
        """Pass on incoming data; raises when the connection is lost."""
        ...

    async def subscribe(self, name: str) -> None:
        """Receive the messages of a channel from now on."""
        ...

    async def unsubscribe(self, name: str) -> None:
        """Get no more of it."""
        ...


class Backend(Protocol):
    """A store. Its methods raise one of ``unreachable`` while it is away."""

    unreachable: tuple[type[Exception], ...]

    def connect(self, names: Collection[str]) -> AbstractAsyncContextManager[StoreConnection]:
        """Open a connection that is subscribed to ``names``."""
        ...

    async def publish(self, name: str, data: bytes) -> None:
        """Log a message and send it to all processes, in one order for all."""
        ...

    async def notify(self, name: str, *data: bytes) -> None:
        """Send data without storing it in a log."""
        ...

    async def begin(self, name: str) -> Ident:
        """See to it that a channel has a log, and return the place of its newest message."""
        ...

    async def newest(self, names: Sequence[str]) -> list[Ident | None]:
        """Return the place of the newest message of each log; None without a log."""
        ...

    async def read(self, name: str, after: Ident, limit: int) -> Part:
        """Return at most ``limit`` messages after a position, oldest first.

        If the log has a gap and no messages, its end is returned as an entry without data.
        """
        ...

    async def keep(self, names: Sequence[str]) -> None:
        """Let logs and members live on."""
        ...

    # --- presence

    async def enter(self, epoch: str) -> list[str]:
        """Make a process known; return all processes that are, on its machine."""
        ...

    async def renew(self, epoch: str) -> bool:
        """Say that a process lives; False when it has been silent for too long."""
        ...

    async def end(self, epoch: str) -> None:
        """Forget a process."""
        ...

    async def find_ended(self, epochs: Collection[str]) -> set[str]:
        """Return the processes that have ended, or been silent for `EPOCH_LIFE`."""
        ...

    async def store(self, name: str, members: Sequence[RemoteMember]) -> None:
        """Keep members of a channel."""
        ...

    async def erase(self, name: str, members: Mapping[str, bytes | None]) -> None:
        """Forget members by their id; with bytes, unless other ones are stored there by now."""
        ...

    async def load(self, name: str) -> list[bytes]:
        """Return the members of a channel, packed."""
        ...


@contextmanager
def reaching(backend: Backend, place: str, what: str) -> Iterator[None]:
    """Convert a store's errors to BrokerUnreachable, which names the failed operation."""
    try:
        yield
    except backend.unreachable as error:
        raise BrokerUnreachable(place, what) from error
