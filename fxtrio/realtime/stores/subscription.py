"""One subscription connection for the whole process, which reconnects and catches up.

After a reconnect, each channel's log is read from the last delivered message on: in order,
and none twice. Live messages of a channel that is catching up need no buffer: they are in
its log, too. Messages that the log no longer has are reported as lost.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable, Callable, Iterable

import msgspec
import trio

from fxtrio.errors import BrokerUnreachable
from fxtrio.realtime.frames import Ident
from fxtrio.realtime.stores.backend import ANSWER_LIMIT, START, Backend, StoreConnection

FIRST_DELAY, LONGEST_DELAY = 0.05, 2.0
"""Between two attempts to connect (seconds)."""

PART = 100
"""Messages that are read from a log at a time, and logs that are looked at (count)."""

log = logging.getLogger("fx.realtime")


class _Track(msgspec.Struct, eq=False):
    """How far a channel's messages have been delivered in this process."""

    last: Ident | None = None
    """The newest one that was; None until there is a subscriber."""

    behind: bool = True
    """Whether it is to be read on from the log."""

    seen: Ident = START
    """The newest message that arrived while it was behind."""

    @property
    def live(self) -> bool:
        return not self.behind


class Link:
    """Delivers the messages of channels to callbacks, none of which waits. `run` must be running.

    ``on_message`` gets the channel, the place and the data of each message, ``on_missed`` a channel
    where messages may be lost, ``on_resumed`` one where none is lost after a break.
    ``on_connect`` runs after each connection, before anything that was missed is read;
    ``on_part`` may wait after each part of it, for slow readers.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        on_message: Callable[[str, Ident | None, bytes], None],
        on_missed: Callable[[str], None],
        on_resumed: Callable[[str], None],
        on_connect: Callable[[], Awaitable[None]],
        on_part: Callable[[str], Awaitable[None]],
        always: Iterable[str] = (),
    ) -> None:
        self._backend = backend
        self._away: tuple[type[Exception], ...] = (*backend.unreachable, BrokerUnreachable)
        self._on_message = on_message
        self._on_missed = on_missed
        self._on_resumed = on_resumed
        self._on_connect = on_connect
        self._on_part = on_part
        self._always = tuple(always)
        self._tracks: dict[str, _Track] = {}
        self._active: set[str] = set()
        self._lagging: dict[str, None] = {}
        self._connection: StoreConnection | None = None
        self._generation = ""
        self._lag = trio.Event()
        self._nudged = trio.Event()
        self._changes = trio.lowlevel.ParkingLot()
        self._waiting: set[trio.CancelScope] = set()

    @property
    def connected(self) -> bool:
        """Whether there is a connection."""
        return self._connection is not None

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep the connection until cancelled. Raises BrokerUnreachable if the first one fails."""
        delay = FIRST_DELAY
        away = False  # whether the outage was logged: once, however long it lasts
        while True:
            failure: BaseException | None = None
            try:
                self._active = {*self._always, *self._tracks}
                async with (
                    self._backend.connect(self._active) as connection,
                    trio.open_nursery() as nursery,
                ):
                    for track in self._tracks.values():
                        track.seen = START
                    nursery.start_soon(self._listen, connection)
                    await self._on_connect()
                    self._connection = connection
                    self._changes.unpark_all()
                    if away:
                        log.warning("The broker is reachable again")
                        away = False
                    await self._resume(connection.generation)
                    task_status.started()
                    task_status, delay = trio.TASK_STATUS_IGNORED, FIRST_DELAY
                    await self._catch_up()
            except* self._away as errors:
                failure = errors.exceptions[-1]
            finally:
                self._disconnected()
            if task_status is not trio.TASK_STATUS_IGNORED:
                raise BrokerUnreachable("realtime", "be connected to") from failure
            if not away:
                log.warning("The broker is unreachable, retrying: %s", repr(failure))
                away = True
            await self._pause(delay)
            delay = min(2 * delay, LONGEST_DELAY)

    def nudge(self) -> None:
        """Connect without waiting: the store has responded to another task."""
        self._nudged.set()

    async def subscribe(self, name: str) -> None:
        """Get messages of a channel from now on; waits a little for the store to be back.

        Raises BrokerUnreachable.
        """
        track = self._tracks.setdefault(name, _Track())
        if track.live:
            return
        with trio.move_on_after(ANSWER_LIMIT):
            while not track.live:
                connection = self._connection
                if connection is None or track.last is not None:  # which is read on by `run`
                    await self._changes.park()
                else:
                    await self._join(connection, name, track)
            return
        raise BrokerUnreachable(name, "subscribe")

    async def unsubscribe(self, name: str) -> None:
        """Get no more messages of a channel; those of `always` go on."""
        if name in self._always:
            return
        self._tracks.pop(name, None)
        self._lagging.pop(name, None)
        self._active.discard(name)
        if self._connection is not None:
            try:
                await self._connection.unsubscribe(name)
            except self._backend.unreachable:
                log.debug("The connection broke before %r was unsubscribed", name)

    async def _listen(self, connection: StoreConnection) -> None:
        try:
            await connection.run(self._take)
        finally:
            self._disconnected()  # subscribers must not wait for the connection to be closed

    async def _join(self, connection: StoreConnection, name: str, track: _Track) -> None:
        try:
            if name not in self._active:
                await self._subscribe(connection, name)
                if self._connection is not connection:
                    return
                self._active.add(name)
            newest = await self._backend.begin(name)
        except self._backend.unreachable:
            await trio.sleep(FIRST_DELAY)  # until `run` has noticed, too
        else:
            if self._connection is connection:
                track.last, track.behind = max(newest, track.seen), False

    async def _subscribe(self, connection: StoreConnection, name: str) -> None:
        """Subscribe to a channel; return early if the connection breaks."""
        with trio.CancelScope() as waiting:
            self._waiting.add(waiting)
            try:
                await connection.subscribe(name)
            finally:
                self._waiting.discard(waiting)

    def _take(self, name: str, ident: Ident | None, data: bytes | None) -> None:
        """Deliver a live message, unless its channel is behind, or has had it."""
        if ident is None:
            if data is not None:
                self._on_message(name, None, data)
            return
        track = self._tracks.get(name)
        if track is None or track.last is None:
            if track is not None:
                track.seen = max(track.seen, ident)
        elif track.behind or data is None:
            track.seen = max(track.seen, ident)
            if not track.behind:
                track.behind = True
                self._lagging[name] = None
                self._lag.set()
        elif ident > track.last:
            track.last = ident
            self._on_message(name, ident, data)

    async def _resume(self, generation: str) -> None:
        """Read the messages since the connection broke, on all channels."""
        same = generation == self._generation
        names = [name for name, track in self._tracks.items() if track.last is not None]
        for start in range(0, len(names), PART):
            part = names[start : start + PART]
            for name, newest in zip(part, await self._backend.newest(part), strict=True):
                if not same and name in self._tracks:
                    self._on_missed(name)
                missed = await self._follow(name, newest, reported=not same)
                if not missed and name in self._tracks:
                    self._on_resumed(name)
        self._generation = generation

    async def _catch_up(self) -> None:
        """Read messages that are in the log only, as they come."""
        while True:
            for name in tuple(self._lagging):
                self._lagging.pop(name, None)
                await self._follow(name, None)
            self._lag = trio.Event()
            if not self._lagging:
                await self._lag.wait()

    async def _follow(self, name: str, newest: Ident | None, *, reported: bool = False) -> bool:
        """Read a log to its end; return whether messages were lost.

        ``newest`` is its end as far as known, ``reported`` whether a loss was already reported.
        """
        track = self._tracks.get(name)
        if track is None or track.last is None:
            return reported
        if reported or newest != track.last or track.seen > track.last:
            while self._tracks.get(name) is track:
                part = await self._backend.read(name, track.last, PART)
                if self._tracks.get(name) is not track:
                    break
                if not part.whole and not reported:
                    self._on_missed(name)
                    reported = True
                for message in part.messages:
                    track.last = message.ident
                    if message.data:
                        self._on_message(name, message.ident, message.data)
                if track.seen <= track.last and len(part.messages) < PART:
                    break
                if not part.messages:  # it was there a moment ago
                    track.last = track.seen
                    if not reported:
                        self._on_missed(name)
                        reported = True
                await self._on_part(name)
        track.behind = False
        self._changes.unpark_all()
        return reported

    def _disconnected(self) -> None:
        self._connection = None
        for waiting in self._waiting:
            waiting.cancel()
        self._nudged = trio.Event()
        self._active.clear()
        self._lagging.clear()
        for track in self._tracks.values():
            track.behind = True

    async def _pause(self, delay: float) -> None:
        """Wait for a while; `nudge` cuts the wait short, except for its beginning."""
        await trio.sleep(FIRST_DELAY * random.uniform(0.5, 1))
        with trio.move_on_after((delay - FIRST_DELAY) * random.uniform(0.5, 1)):
            await self._nudged.wait()
