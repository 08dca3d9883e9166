"""Members of a process that was killed have left a moment later, not when a lease is over."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
import trio

from fxtrio.errors import BrokerUnreachable
from fxtrio.realtime import Joined, Left
from fxtrio.realtime.stores import store_presence
from fxtrio.realtime.stores.backend import EPOCH_LIFE
from fxtrio.realtime.stores.store_presence import HEARTBEAT, PROCESSES
from fxtrio.realtime.stores.wire import EpochNews, pack
from tests.docs.pages import ROOT
from tests.realtime.stores import Store, joined, open_brokers, wait_until

pytestmark = pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning")


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Have the warning come here, where it is expected, and not in another test."""
    yield
    gc.collect()


@pytest.fixture
def no_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave only what is reported at once."""
    monkeypatch.setattr(store_presence, "HEARTBEAT", 3600)
    for kind in ("redis", "postgres"):
        monkeypatch.setattr(f"fxtrio.realtime.stores.{kind}.EPOCH_LIFE", 3600)


@asynccontextmanager
async def member(store: Store) -> AsyncIterator[trio.Process]:
    """Run a process that is a member of the channel."""
    command = [sys.executable, "-m", "tests.realtime.member", store.url]
    process = await trio.lowlevel.open_process(command, stdout=subprocess.PIPE, cwd=ROOT)
    try:
        assert process.stdout is not None
        assert (await process.stdout.receive_some()).startswith(b"joined")
        yield process
    finally:
        with trio.CancelScope(shield=True):
            process.kill()
            await process.wait()
            assert process.stdout is not None
            await process.stdout.aclose()


async def test_a_process_on_the_same_machine_notifies_all_others(
    store: Store, no_heartbeat: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_brokers(store) as [neighbour, stranger], joined(stranger) as (_, room):
        # On another machine: it learns of the end from the one that sees it.
        for epoch in list(stranger._roster._neighbours):
            stranger._roster._forget(epoch)
        monkeypatch.setattr(stranger._roster, "_attend", lambda epoch: None)
        news = room.presence()
        async with member(store) as process:
            assert isinstance(ghost := await anext(news), Joined)
            process.send_signal(signal.SIGKILL)
            assert await anext(news) == Left(ghost.member)
        assert neighbour.members("room") == ()  # it has no subscriber there itself
        assert [who.id for who in room.subscribers] == [room.member.id]


async def test_a_process_that_starts_buries_those_that_died_before(
    store: Store, no_heartbeat: None
) -> None:
    async with member(store) as process:
        process.send_signal(signal.SIGKILL)
        await process.wait()
        async with open_brokers(store, 1) as [broker], joined(broker) as (_, room):
            await wait_until(lambda: room.subscribers == (room.member,))


async def test_the_members_of_a_dead_process_are_in_no_roster_that_is_loaded_later(
    store: Store, no_heartbeat: None
) -> None:
    async with open_brokers(store) as [one, two]:
        async with member(store) as process:
            process.send_signal(signal.SIGKILL)
            await process.wait()
            await wait_until(lambda: len(one._roster._neighbours) == 1)
        async with joined(two) as (_, room):
            assert room.subscribers == (room.member,)
        assert await one._backend.load("room") == []


async def test_a_process_that_others_took_for_dead_comes_back_with_its_members(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_presence, "HEARTBEAT", 0.1)
    async with open_brokers(store) as [one, two], joined(one) as (_, room):
        news = room.presence()
        async with joined(two, member="bob") as (_, other):
            assert await anext(news) == Joined(other.member)
            await one._roster._end(two._roster._epoch)
            assert await anext(news) == Left(other.member)
            assert await anext(news) == Joined(other.member)
        assert await anext(news) == Left(other.member)


async def test_a_process_that_connects_again_is_waited_for_once(
    store: Store, no_heartbeat: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def be_away(epoch: str) -> None:
        raise OSError("the store is away")

    async with open_brokers(store) as [one, two], joined(one) as (_, room):
        async with joined(two, member="bob"):
            await wait_until(lambda: len(room.subscribers) == 2)
            with monkeypatch.context() as patch:
                patch.setattr(one._roster, "_end", be_away)
                for _ in range(5):
                    with pytest.raises(BrokerUnreachable):
                        await one._roster.begin_epoch()
            await one._roster.begin_epoch()
            epochs = {one._roster._epoch, two._roster._epoch}
            await wait_until(lambda: [*two._roster._neighbours] == [one._roster._epoch])
            assert one._roster._neighbours.keys() == {two._roster._epoch}
            assert set(await two._backend.enter(two._roster._epoch)) == epochs
            await two._roster.begin_epoch()  # which reads them all
            assert [*two._roster._neighbours] == [one._roster._epoch]
            assert len(room.subscribers) == 2


def test_a_lost_machine_is_noticed_within_its_lease() -> None:
    assert EPOCH_LIFE + HEARTBEAT < 15


async def test_an_invalid_identity_watches_nothing(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_brokers(store, 1) as [broker], joined(broker) as (client, room):
        for text in ("", "x", "m/1/2", "../../1/2/abcdef01", "m/-1/2/abcdef01"):
            await broker._backend.notify(PROCESSES, pack(EpochNews(True, text)))
        await room.publish("hello")
        await wait_until(lambda: client.received == ["hello"])
        assert broker._roster._neighbours == {}
    assert caplog.text.count("is not a message of fxtrio") == 5
