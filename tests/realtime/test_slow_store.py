"""A store that does not respond in time: who left has left, in all processes, a little later."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import trio

from fxtrio import process_identity
from fxtrio.config import RealtimeConfig
from fxtrio.realtime.send_buffer import CLOSE_TIMEOUT
from fxtrio.realtime.stores.store_presence import HEARTBEAT
from fxtrio.simulation.engine.scheduler import Scheduler
from fxtrio.simulation.engine.strategies import InOrder
from fxtrio.simulation.faults import NO_FAULTS, FaultPlan
from fxtrio.simulation.servers.store import MessageStore, SimulatedBackend
from tests.realtime.stores import joined


async def test_members_that_left_while_the_store_was_slow_are_removed(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    erase = SimulatedBackend.erase
    slow = False

    async def erase_slowly(
        self: SimulatedBackend, name: str, members: Mapping[str, bytes | None]
    ) -> None:
        if slow:
            await trio.sleep(4 * CLOSE_TIMEOUT)
        await erase(self, name, members)

    def no_machine() -> str:
        raise OSError("the brokers are not processes of their own")

    monkeypatch.setattr(SimulatedBackend, "erase", erase_slowly)
    monkeypatch.setattr(process_identity, "_machine", no_machine)
    store = MessageStore(FaultPlan(NO_FAULTS, "0"), Scheduler(InOrder()))
    settings = RealtimeConfig()
    async with (
        store.open_broker(settings) as one,
        store.open_broker(settings) as two,
        joined(two, member="ann") as (_, room),
    ):
        async with joined(one, member="bob"), joined(one, member="cid"):
            await trio.sleep(HEARTBEAT)
            assert {who.info for who in room.subscribers} == {"ann", "bob", "cid"}
            slow = True
        slow = False
        await trio.sleep(4 * HEARTBEAT)
        assert [who.info for who in room.subscribers] == ["ann"]
        assert list(store.members["room"]) == [room.member.id]
        assert one.subscriptions() == {}
        assert [sorted(link._names) for link in store.links] == [
            ["\0processes"],
            ["\0processes", "room"],
        ]
