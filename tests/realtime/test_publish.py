"""`publish` tells the app's broker from any code, and a broker that is away costs no action."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio

import fx.realtime
from fx.testing import Client, open_app
from fxtrio.app_handle import App
from fxtrio.config import Config
from fxtrio.context import entered
from fxtrio.errors import BrokerUnreachable, MessageNotEncodable
from fxtrio.realtime import MemoryBroker, publish
from fxtrio.realtime.broker import BrokerMissing
from tests.realtime.redis_server import RedisServer
from tests.trees import page, write_tree

ROOM = """
    from fx.realtime import channel, publish
    from fx.tasks import enqueue

    async def websocket(ws):
        await ws.accept()
        async with channel(ws, "room"):
            async for text in ws.iter_text():
                await publish("room", {"from": text})

    @server
    async def load(request):
        return {"told": await publish("room", {"from": "loader"})}

    @action
    async def tell(request):
        enqueue(publish, "room", {"from": "job"})
        return {"told": await publish("room", {"from": "action"})}
    """
ENDPOINT = """\
from fx.realtime import publish
from starlette.responses import JSONResponse

async def get(request):
    return JSONResponse(await publish("room", {"from": "endpoint"}))
"""


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    write_tree(tmp_path, {"pages/room.fxl": page(ROOM), "pages/api/tell.py": ENDPOINT})
    async with open_app(tmp_path) as opened:
        yield opened


async def test_every_code_of_an_app_reaches_the_subscribers(client: Client) -> None:
    async with client.websocket("/room") as socket:
        await socket.send_text("handler")
        assert await socket.receive_json() == {"from": "handler"}
        assert (await client.load_page("/room")).data == {"told": True}
        assert await socket.receive_json() == {"from": "loader"}
        assert (await client.get("/api/tell")).json() is True
        assert await socket.receive_json() == {"from": "endpoint"}
        assert (await client.action("/room", "tell")).data == {"told": True}
        senders = [(await socket.receive_json())["from"] for _ in range(2)]
        assert sorted(senders) == ["action", "job"]
        assert await publish("room", "the test's own code")
        assert await socket.receive() == "the test's own code"


async def test_an_action_outlives_a_redis_that_is_away(
    client: Client, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = RedisServer(tmp_path)
    server.start()
    try:
        with trio.fail_after(30):
            async with open_app(tmp_path, realtime={"broker": server.url}) as app:
                assert (await app.action("/room", "tell")).data == {"told": True}
                server.kill()
                result = await app.action("/room", "tell")
    finally:
        server.kill()
    assert (result.status, result.data) == (200, {"told": False})
    assert "A message to the channel 'room' may be lost" in caplog.text


class Broken(MemoryBroker):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def publish(self, name: str, message: Any) -> None:
        raise self.error


def app_with(broker: MemoryBroker) -> App:
    return App(config=Config(), tasks=None, broker=broker, state=None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "error", [BrokerUnreachable("room", "publish"), OSError("no route"), RuntimeError("a defect")]
)
async def test_whatever_a_broker_raises_is_logged(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    with entered(app_with(Broken(error))):
        assert await publish("room", "x") is False
    [record] = caplog.records
    assert (record.name, record.levelname) == ("fx.realtime", "ERROR")
    assert "'room'" in record.getMessage()
    assert str(error) in caplog.text


async def test_what_no_frame_can_hold_is_a_type_error(client: Client) -> None:
    with pytest.raises(MessageNotEncodable, match="publish"):
        await publish("room", {"x": object()})
    with pytest.raises(TypeError):
        await publish("room", 7)  # type: ignore[arg-type]


async def test_outside_an_app_there_is_nobody_to_notify() -> None:
    with pytest.raises(BrokerMissing, match=r"publish\('room'\): no app of fxtrio runs here"):
        await publish("room", "x")


def test_it_is_in_fx_realtime() -> None:
    assert fx.realtime.publish is publish
