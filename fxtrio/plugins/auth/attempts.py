"""Limits attempts by the settings.

A running attempt counts as failed. If a limit is reached only because of running attempts,
a further one waits for them, as they may succeed: at most `TURN_TIMEOUT` seconds, and at most
``hashingQueue`` of them. All others are rejected at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import attrs
import trio

from fxtrio.plugins.auth.models import BUSY, Rejection
from fxtrio.plugins.auth.settings import HOUR, AuthSettings
from fxtrio.plugins.auth.storage.interface import AuthStorage
from fxtrio.plugins.auth.throttle import Bucket, Marks, account_key, charge, client_key, forgive

REGISTRATIONS = 20
"""Registrations of one client in an hour (count)."""

TURN_TIMEOUT = 10.0
"""How long an attempt waits for those under way (seconds)."""


@attrs.define(eq=False)
class LimitedAttempts:
    """The limits of one app. ``clock`` returns seconds since 1970."""

    settings: AuthSettings
    storage: AuthStorage
    clock: Callable[[], float]
    _under_way: Counter[str] = attrs.field(init=False, factory=Counter)
    _finished: int = attrs.field(init=False, default=0)
    _turn: trio.Lock = attrs.field(init=False, factory=trio.Lock)
    _waiting: trio.lowlevel.ParkingLot = attrs.field(init=False, factory=trio.lowlevel.ParkingLot)

    def login_of(self, address: str, client: str | None) -> list[Bucket]:
        """Return the buckets of a login: the address's own first."""
        settings = self.settings
        account = Bucket(account_key(address), settings.login_attempts, settings.login_pause)
        key = client_key(client)
        if key is None or settings.client_attempts is None:
            return [account]
        return [account, Bucket(key, settings.client_attempts, HOUR / settings.client_attempts)]

    def change_of(self, user_id: str) -> list[Bucket]:
        """Return the bucket of a password change by a signed-in user.

        It is separate from the login's: an attack on the login must not block the owner's change.
        """
        settings = self.settings
        return [Bucket(f"change:{user_id}", settings.login_attempts, settings.login_pause)]

    def registration_of(self, client: str | None) -> list[Bucket]:
        """Return the bucket of a registration, if it has one."""
        key = client_key(client)
        if key is None or self.settings.client_attempts is None:
            return []
        return [Bucket(f"register:{key}", REGISTRATIONS, HOUR / REGISTRATIONS)]

    @asynccontextmanager
    async def admit(self, buckets: Sequence[Bucket]) -> AsyncIterator[Rejection | None]:
        """Run one attempt in the block, whose value is the reason if it is rejected."""
        keys = [each.key for each in buckets]
        rejection: Rejection | None = BUSY
        with trio.move_on_after(TURN_TIMEOUT):
            rejection = await self._begin(buckets)
            while rejection is not None and self._may_become_free(keys):
                await self._waiting.park()
                rejection = await self._begin(buckets)
        try:
            yield rejection
        finally:
            if rejection is None:
                self._finish(keys)

    async def _begin(self, buckets: Sequence[Bucket]) -> Rejection | None:
        """Charge an attempt, again if others have finished meanwhile; count it as under way."""
        while True:
            async with self._turn:  # an attempt that is rejected because of it must see it running
                finished = self._finished
                rejection = await self.charge(buckets)
                if rejection is None:
                    self._under_way.update(each.key for each in buckets)
            if rejection is None or finished == self._finished:
                return rejection

    def _finish(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._under_way[key] -= 1
            if not self._under_way[key]:
                del self._under_way[key]
        self._finished += 1
        self._waiting.unpark_all()

    def _may_become_free(self, keys: Sequence[str]) -> bool:
        others = any(key in self._under_way for key in keys)
        return others and len(self._waiting) < self.settings.hashing_queue

    async def charge(self, buckets: Sequence[Bucket]) -> Rejection | None:
        """Count an attempt as failed before it begins; return why it is rejected."""
        now = self.clock()

        def change(marks: Marks) -> tuple[Marks, float]:
            verdict = charge(buckets, marks, now)
            return verdict.marks, verdict.wait

        wait = await self.storage.change_marks([each.key for each in buckets], change, now)
        if not wait:
            return None
        return Rejection(
            code="throttled",
            message="There were too many attempts. Try again later.",
            status=429,
            retry_after=wait,
        )

    async def forgive(self, buckets: Sequence[Bucket]) -> None:
        """Undo the count of a successful attempt, and empty the first bucket."""
        now = self.clock()

        def change(marks: Marks) -> tuple[Marks, None]:
            return forgive(buckets[0], buckets[1:], marks, now), None

        await self.storage.change_marks([each.key for each in buckets], change, now)
