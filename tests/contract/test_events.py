"""Channel messages."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

from trio.testing import wait_all_tasks_blocked

from tests.contract.projects import open_pages
from tests.contract.rules import rule

ROOM = """
    from fx.realtime import channel

    async def websocket(ws):
        await ws.accept()
        async with channel(ws, ws.path_params["room"]) as room:
            while True:
                count = int(await ws.receive_text())
                for number in range(count):
                    await room.publish({"n": number})
                await room.publish("text")
                await room.publish(b"bytes")
"""


@rule("events.1")
async def test_events_1_a_message_reaches_every_subscriber_of_its_channel_in_order(
    tmp_path: Path,
) -> None:
    async with open_pages(tmp_path, {"[room]": ROOM}) as client, AsyncExitStack() as stack:
        members = [await stack.enter_async_context(client.websocket("/a")) for _ in range(20)]
        stranger = await stack.enter_async_context(client.websocket("/b"))
        await wait_all_tasks_blocked()
        await members[0].send_text("50")
        for member in members:
            assert [await member.receive_json() for _ in range(50)] == [
                {"n": number} for number in range(50)
            ]
            assert [await member.receive() for _ in range(2)] == ["text", b"bytes"]
        await stranger.send_text("0")
        assert await stranger.receive() == "text"


@rule("events.1")
async def test_events_1_the_app_itself_can_publish(tmp_path: Path) -> None:
    async with open_pages(tmp_path, {"[room]": ROOM}) as client:
        async with client.websocket("/a") as member:
            await wait_all_tasks_blocked()
            for message in ({"a": 1}, [2], "three", b"four"):
                await client.app.state.fx_broker.publish("a", message)
            assert [await member.receive_json() for _ in range(2)] == [{"a": 1}, [2]]
            assert [await member.receive() for _ in range(2)] == ["three", b"four"]
