"""What the task that watches the sessions of open sockets asks of the storage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest
import trio
from starlette.types import Scope
from trio.testing import MockClock

from fxtrio.plugins.auth.errors import AuthStorageUnavailable
from fxtrio.plugins.auth.models import Session
from fxtrio.plugins.auth.sessions.sockets import TICK, SessionSockets
from fxtrio.realtime.close import known_ending
from tests.auth.harness import Clock


class Storage:
    """Knows sessions, and counts its calls."""

    def __init__(self) -> None:
        self.living = {b"a": 2_000_000_000.0, b"b": 2_000_000_000.0}
        self.number = 1
        self.versions = self.queries = 0
        self.broken = False

    async def version(self) -> int:
        self.versions += 1
        if self.broken:
            raise AuthStorageUnavailable("disk I/O error")
        return self.number

    async def live_sessions(self, keys: Sequence[bytes], now: float) -> dict[bytes, float]:
        self.queries += 1
        return {key: self.living[key] for key in keys if self.living.get(key, 0.0) > now}


class Watched:
    def __init__(self) -> None:
        self.storage, self.clock = Storage(), Clock()
        self.sockets = SessionSockets(cast("Any", self.storage), self.clock)
        self.codes: dict[bytes, list[int]] = {b"a": [], b"b": []}

    async def serve(self, key: bytes, *, task_status: trio.TaskStatus[None]) -> None:
        """Be a socket of the session ``key`` until it is ended."""
        scope: Scope = {}
        session = Session(
            key=key, user_id="u", created_at=0, expires_at=0, ends_at=0, persistent=False
        )
        with known_ending(scope) as ending:
            self.sockets.hold(scope, session)
            task_status.started()
            await trio.sleep_forever()
        assert ending.closing is not None
        self.codes[key].append(ending.closing[0])


@pytest.fixture
async def watched(nursery: trio.Nursery) -> Watched:
    watched = Watched()
    nursery.start_soon(watched.sockets.watch)
    return watched


async def test_without_sockets_it_asks_nothing(watched: Watched, autojump_clock: MockClock) -> None:
    await trio.sleep(100)
    assert watched.storage.versions == 0


async def test_while_nobody_writes_it_asks_only_whether_somebody_has(
    watched: Watched, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    await nursery.start(watched.serve, b"a")
    await trio.sleep(20.5 * TICK)
    assert (watched.storage.versions, watched.storage.queries) == (21, 1)
    watched.storage.number = 2
    await trio.sleep(TICK)
    assert watched.storage.queries == 2
    assert watched.codes == {b"a": [], b"b": []}


async def test_what_another_process_has_ended_is_closed_with_the_next_look(
    watched: Watched, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    await nursery.start(watched.serve, b"a")
    await nursery.start(watched.serve, b"a")
    await nursery.start(watched.serve, b"b")
    await trio.sleep(10 * TICK)
    del watched.storage.living[b"a"]
    watched.storage.number = 2
    await trio.sleep(1.1 * TICK)
    assert watched.codes == {b"a": [4401, 4401], b"b": []}
    assert len(watched.sockets) == 1


async def test_a_session_that_runs_out_is_closed_though_nobody_has_written(
    watched: Watched, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    await nursery.start(watched.serve, b"a")
    await trio.sleep(10 * TICK)
    watched.clock.now = 2_000_000_000.0
    await trio.sleep(1.1 * TICK)
    assert watched.codes[b"a"] == [4401]


async def test_a_session_that_ended_before_its_socket_was_held_is_closed(
    watched: Watched, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    await nursery.start(watched.serve, b"b")
    await trio.sleep(10 * TICK)
    del watched.storage.living[b"a"]
    await nursery.start(watched.serve, b"a")
    await trio.sleep(1.1 * TICK)
    assert watched.codes == {b"a": [4401], b"b": []}


async def test_while_the_storage_is_away_sockets_stay_and_it_looks_again(
    watched: Watched, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    await nursery.start(watched.serve, b"a")
    await trio.sleep(2.5 * TICK)
    watched.storage.broken = True
    del watched.storage.living[b"a"]
    await trio.sleep(10 * TICK)
    assert watched.codes[b"a"] == []
    watched.storage.broken = False
    await trio.sleep(1.1 * TICK)
    assert watched.codes[b"a"] == [4401]


async def test_polling_ends_with_the_last_socket(
    watched: Watched, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    await nursery.start(watched.serve, b"a")
    watched.sockets.end(key=b"a")
    await trio.sleep(TICK)
    before = watched.storage.versions
    await trio.sleep(100)
    assert watched.storage.versions == before
    assert watched.codes[b"a"] == [4401]
