"""WebSocket helpers."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from starlette.websockets import WebSocket
from trio.testing import wait_all_tasks_blocked

from fx.realtime import Broker, MemoryBroker, Subscriber, channel
from fx.testing import Client, SocketClosed, open_app
from tests.built import KEY
from tests.contract.projects import open_pages, problems_of, write_pages
from tests.contract.rules import rule
from tests.contract.servers import Observed

CHAT = """
    from fx.realtime import channel

    async def websocket(ws):
        await ws.accept()
        async with channel(ws, ws.path_params["room"]) as room:
            while True:
                message = await ws.receive_json()
                if message == "leave":
                    break
                if message == "fail":
                    raise ValueError("the handler is broken")
                await room.publish(message)
        await ws.send_text("left")
        await ws.receive()
"""


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Client]:
    async with open_pages(tmp_path, {"rooms/[room]": CHAT}) as client:
        yield client


def subscriptions(client: Client) -> int:
    count: int = client.app.state.fx_broker.statistics().subscriptions
    return count


@rule("realtime.channel")
async def test_realtime_channel_is_an_async_context_manager_with_these_parameters() -> None:
    names = [
        (each.name, each.kind is each.KEYWORD_ONLY)
        for each in inspect.signature(channel).parameters.values()
    ]
    assert names[:3] == [("ws", False), ("name", False), ("broker", True)]

    async def nothing(*_: Any) -> Any: ...

    scope = {"type": "websocket", "headers": []}
    block = channel(WebSocket(scope, nothing, nothing), "room")
    assert isinstance(block, AbstractAsyncContextManager)


@rule("realtime.channel_subscribes")
@pytest.mark.parametrize("ending", ["leave", "fail", "disconnect"])
async def test_realtime_channel_subscribes_for_the_block_and_unsubscribes_however_it_ends(
    chat: Client, ending: str
) -> None:
    assert subscriptions(chat) == 0
    async with chat.websocket("/rooms/a") as socket:
        await wait_all_tasks_blocked()
        assert subscriptions(chat) == 1
        assert chat.app.state.fx_broker.statistics().channels == 1
        if ending == "disconnect":
            await socket.close(1001)
        else:
            await socket.send_json(ending)
        await wait_all_tasks_blocked()
        assert subscriptions(chat) == 0
        if ending == "leave":  # the WebSocket itself goes on
            assert await socket.receive() == "left"
    assert chat.app.state.fx_broker.statistics().channels == 0


@rule("realtime.channel_subscribes")
async def test_realtime_channel_subscribes_to_the_named_channel_alone(chat: Client) -> None:
    async with chat.websocket("/rooms/a") as one, chat.websocket("/rooms/b") as other:
        await one.send_json({"to": "a"})
        await other.send_json({"to": "b"})
        assert await one.receive_json() == {"to": "a"}
        assert await other.receive_json() == {"to": "b"}


@rule("realtime.channel_handle")
async def test_realtime_channel_handle_publishes_to_all_members(chat: Client) -> None:
    async with chat.websocket("/rooms/a") as one, chat.websocket("/rooms/a") as other:
        await wait_all_tasks_blocked()
        await one.send_json(["hello"])
        assert [await each.receive_json() for each in (one, other)] == [["hello"]] * 2


ENCODINGS = """
    from fx.realtime import channel

    async def websocket(ws):
        await ws.accept()
        async with channel(ws, "all") as handle:
            for message in ({"a": [1, None], "é": True}, [1, "two"], "plain {text}", b"\\x00\\xff"):
                await handle.publish(message)
            await ws.receive()
"""


@rule("realtime.encoding")
async def test_realtime_encoding_depends_on_the_type_of_the_message(tmp_path: Path) -> None:
    async with open_pages(tmp_path, ENCODINGS) as client:
        async with client.websocket("/") as socket:
            first, second = await socket.receive_json(), await socket.receive_json()
            text, binary = await socket.receive(), await socket.receive()
    assert (first, second) == ({"a": [1, None], "é": True}, [1, "two"])
    assert (text, binary) == ("plain {text}", b"\x00\xff")


@rule("realtime.encoding")
async def test_realtime_encoding_of_json_is_a_text_frame(chat: Client) -> None:
    async with chat.websocket("/rooms/a") as socket:
        await socket.send_json({"a": 1})
        assert await socket.receive() in ('{"a":1}', '{"a": 1}')


@rule("realtime.broker")
async def test_realtime_broker_of_the_app_is_used_by_default(chat: Client) -> None:
    broker = chat.app.state.fx_broker
    assert isinstance(broker, MemoryBroker)
    async with chat.websocket("/rooms/a") as socket:
        await wait_all_tasks_blocked()
        await broker.publish("a", {"from": "outside"})
        assert await socket.receive_json() == {"from": "outside"}


@pytest.mark.node
@rule("realtime.broker", "limits.3")
def test_realtime_broker_is_one_of_each_process(workers: Observed) -> None:
    assert len(workers.members) == 2
    assert workers.members == {pid: int(pid == workers.joined) for pid in workers.members}


class Bus:
    """Stands for a message broker outside of the process: it knows its clients alone."""

    def __init__(self) -> None:
        self.clients: list[BusBroker] = []
        self.operations: list[str] = []


class BusBroker:
    """A custom broker: the subscribers here, the messages through the bus."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._subscribers: dict[str, list[Subscriber]] = {}
        bus.clients.append(self)

    async def subscribe(self, name: str, subscriber: Subscriber) -> None:
        self._bus.operations.append("subscribe")
        self._subscribers.setdefault(name, []).append(subscriber)

    async def unsubscribe(self, name: str, subscriber: Subscriber) -> None:
        self._bus.operations.append("unsubscribe")
        self._subscribers[name].remove(subscriber)

    async def publish(self, name: str, message: Any) -> None:
        self._bus.operations.append("publish")
        for client in self._bus.clients:
            for subscriber in client._subscribers.get(name, ()):
                subscriber.deliver(message)


CUSTOM = CHAT.replace('["room"])', '["room"], broker=ws.app.state.bus)')


@rule("realtime.custom_broker")
async def test_realtime_custom_broker_needs_three_operations_and_can_reach_other_processes(
    tmp_path: Path,
) -> None:
    bus = Bus()
    write_pages(tmp_path, {"rooms/[room]": CUSTOM})
    async with open_app(tmp_path, secret_keys=(KEY,)) as here, open_app(tmp_path) as there:
        for client in (here, there):
            client.app.state.bus = BusBroker(bus)
            assert isinstance(client.app.state.bus, Broker)
        async with here.websocket("/rooms/a") as one, there.websocket("/rooms/a") as other:
            await wait_all_tasks_blocked()
            await one.send_json({"n": 1})
            assert [await each.receive_json() for each in (one, other)] == [{"n": 1}] * 2
            assert subscriptions(here) == 0
    assert sorted(bus.operations) == ["publish"] + ["subscribe"] * 2 + ["unsubscribe"] * 2


@rule("realtime.page")
async def test_realtime_page_serves_a_websocket_at_its_own_path(tmp_path: Path) -> None:
    text = """
    async def websocket(ws):
        await ws.accept()
        await ws.send_json([ws.url.path, ws.path_params])
    """
    files = {"index": text, "rooms/[room]": text, "plain": ""}
    async with open_pages(tmp_path, files) as client:
        for path, params in (("/", {}), ("/rooms/7", {"room": "7"})):
            async with client.websocket(path) as socket:
                assert await socket.receive_json() == [path, params]
                with pytest.raises(SocketClosed) as closed:
                    await socket.receive()
            assert closed.value.code == 1000
            assert (await client.get(path)).status == 200


@rule("realtime.page")
def test_realtime_page_handler_must_be_async_and_at_module_level(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path, "def websocket(ws):\n    pass")
    assert "'websocket' is not async" in problem
