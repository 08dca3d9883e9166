"""Channels by which processes speak among themselves are out of reach for what visitors name."""

from __future__ import annotations

from pathlib import Path

import pytest

from fx.testing import open_app
from fxtrio.realtime.broker import ChannelNameInvalid
from fxtrio.realtime.channels import publish
from fxtrio.realtime.stores.store_presence import PROCESSES
from fxtrio.testing.socket import SocketClosed
from tests.realtime.stores import Store, open_brokers, store, store_cluster, wait_until
from tests.trees import page, write_tree

__all__ = ["store", "store_cluster"]

ROOM = """
    from fx.realtime import channel

    async def websocket(ws):
        await ws.accept()
        try:
            async with channel(ws, ws.path_params["room"]):
                await ws.send_text("joined")
        except ValueError:
            await ws.close(1008)
        except Exception as error:
            await ws.send_text(type(error).__name__)
    """


async def test_a_room_that_a_visitor_names_is_none_of_the_frameworks_own(tmp_path: Path) -> None:
    root = write_tree(tmp_path, {"pages/[room].fxl": page(ROOM)})
    async with open_app(root) as client:
        async with client.websocket("/lobby") as socket:
            assert await socket.receive() == "joined"
        async with client.websocket("/%00processes") as socket:
            assert await socket.receive() == "ChannelNameInvalid"
        with pytest.raises(ChannelNameInvalid):
            await publish(PROCESSES, "forged")


async def test_a_visitor_who_names_one_is_rejected_with_a_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plain = """
        from fx.realtime import channel

        async def websocket(ws):
            await ws.accept()
            async with channel(ws, ws.path_params["room"]):
                await ws.receive_text()
        """
    root = write_tree(tmp_path, {"pages/[room].fxl": page(plain)})
    async with open_app(root) as client, client.websocket("/%00processes") as socket:
        with pytest.raises(SocketClosed) as closed:
            await socket.receive()
    assert (closed.value.code, closed.value.reason) == (1008, "there is no such channel")
    [record] = [each for each in caplog.records if each.name == "fx.realtime"]
    assert record.levelname == "WARNING"
    assert record.exc_info is None


async def test_nobody_takes_a_process_off_the_news_of_processes(store: Store) -> None:
    async with open_brokers(store, 2) as (one, other):
        await one._link.unsubscribe(PROCESSES)
        assert PROCESSES in one._link._active
        await wait_until(lambda: PROCESSES in other._link._active)
