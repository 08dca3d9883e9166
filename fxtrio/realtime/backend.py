"""What a store that all processes reach is to `SharedBroker`: a wire, logs, and members.

Each channel has a log of its last messages beside what is sent at once, so that a
process that was cut off reads what it has missed. A log has a bound, and outlives its
readers by a minute or so only. Redis and PostgreSQL are such stores.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Protocol

import attrs

from fxtrio.errors import BrokerUnreachable
from fxtrio.realtime.wire import RemoteMember

Ident = tuple[int, int]
"""The place of a message in the log of its channel; later ones are greater."""

START: Ident = (0, 0)

ANSWER_LIMIT = 5.0
"""How long a store may take to answer, and a subscriber to wait for it to be back (seconds)."""

LOG_LIFE = 75
"""How long a log outlives the last time that somebody needed it (seconds)."""

UNHEARD_LIFE = 15
"""The same for the log of a channel that nobody was subscribed to when it began (seconds)."""

MEMBERS_LIFE = 3600
"""How long members outlive the last process that knew their channel (seconds)."""

EPOCH_LIFE = 12
"""How long an epoch outlives its last renewal (seconds)."""

Arrival = Callable[[str, Ident | None, bytes | None], None]
"""Takes a channel's name, a place, and data; never waits.

Without a place it is nothing that a log keeps. Without data it is to be read there.
"""


@attrs.frozen
class Logged:
    """A message in a log."""

    ident: Ident
    data: bytes
    """Empty where it only marks a place."""


@attrs.frozen
class Part:
    """A part of a log."""

    whole: bool
    """Whether the log still had what came before it; else messages may be lost."""

    messages: Sequence[Logged]


class StoreConnection(Protocol):
    """One subscription connection."""

    generation: str
    """Changes when the store may have forgotten something, as after a restart."""

    async def run(self, arrival: Arrival) -> None:
        """Pass on what comes, until the connection breaks, which raises."""
        ...

    async def subscribe(self, name: str) -> None:
        """Get what is sent to a channel from now on."""
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

    async def tell(self, name: str, *data: bytes) -> None:
        """Send what no log keeps."""
        ...

    async def begin(self, name: str) -> Ident:
        """See to it that a channel has a log, and return the place of its newest message."""
        ...

    async def newest(self, names: Sequence[str]) -> list[Ident | None]:
        """Return the place of the newest message of each log; None without a log."""
        ...

    async def read(self, name: str, after: Ident, limit: int) -> Part:
        """Return at most ``limit`` messages after a place, oldest first.

        When the log is not whole and has none either, its end comes as one without data.
        """
        ...

    async def keep(self, names: Sequence[str]) -> None:
        """Let logs and members live on."""
        ...

    # --- who is there

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
    """Turn what a store raises into BrokerUnreachable, which says what could not be done."""
    try:
        yield
    except backend.unreachable as error:
        raise BrokerUnreachable(place, what) from error
