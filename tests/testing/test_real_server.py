"""`open_server`: a real server on a free port, its clients, and its end."""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
import trio_websocket
from pytest_trio import trio_fixture

from fxtrio.testing import RealClockNeeded, TestServer, ToolMissing, open_server
from tests.trees import write_tree

FILES = {
    "pages/index.fxl": """
SEEN = []


@server
async def load(request):
    SEEN.append(request.cookies.get("name", "nobody"))
    return {"seen": SEEN}


@action
async def sign(request):
    request.state.response.set_cookie("name", (await request.json())["name"])
    return {"signed": True}


export default function Home({ data }) {
  return <p id="seen">{data.seen.join(" ")}</p>;
}
""",
    "pages/echo.fxl": """
async def websocket(ws):
    await ws.accept()
    await ws.send_text(ws.cookies.get("name", "nobody"))
    async for text in ws.iter_text():
        await ws.send_text(text.upper())


export default () => null
""",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_tree(tmp_path, FILES)
    return tmp_path


@trio_fixture  # type: ignore[untyped-decorator]  # pytest-trio has no types
async def server(project: Path) -> AsyncIterator[TestServer]:
    with trio.fail_after(60):
        async with open_server(project) as opened:
            yield opened


async def test_the_http_client_speaks_to_it_over_a_socket_and_keeps_cookies(
    server: TestServer,
) -> None:
    signed = await server.client.post("/api/__actions/index/sign", json={"name": "Ada"})
    page = await server.client.get("/", headers={"x-fx-navigation": "1"})

    assert signed.json() == {"ok": True, "signed": True}
    assert page.json()["props"]["data"] == {"seen": ["Ada"]}
    assert page.http_version == "HTTP/1.1"


async def test_a_websocket_has_the_cookies_of_the_client(server: TestServer) -> None:
    await server.client.post("/api/__actions/index/sign", json={"name": "Ada"})

    async with server.websocket("/echo") as ws:
        await ws.send_message("hello")
        assert [await ws.get_message(), await ws.get_message()] == ["Ada", "HELLO"]


async def test_a_rejected_websocket_says_so(server: TestServer) -> None:
    with pytest.raises(trio_websocket.ConnectionRejected) as caught:
        async with server.websocket("/nowhere"):
            pass

    assert caught.value.status_code == 404


async def test_the_end_of_the_block_closes_sockets_and_the_port(project: Path) -> None:
    closed: list[int] = []

    async def listen(server: TestServer, *, task_status: trio.TaskStatus[None]) -> None:
        async with server.websocket("/echo") as ws:
            await ws.get_message()
            task_status.started()
            with pytest.raises(trio_websocket.ConnectionClosed) as caught:
                await ws.get_message()
            assert caught.value.reason is not None
            closed.append(caught.value.reason.code)

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery, open_server(project) as server:
            port = int(server.url.rpartition(":")[2])
            await nursery.start(listen, server)
    assert closed == [1001]
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", port)):
        pass


async def test_what_the_block_raises_leaves_it_alone(project: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with open_server(project) as server:
            await server.client.get("/")
            1 / 0  # noqa: B018


async def test_a_cancelled_block_ends_its_server(project: Path) -> None:
    with trio.fail_after(60), trio.CancelScope() as scope:
        async with open_server(project) as server:
            port = int(server.url.rpartition(":")[2])
            async with server.websocket("/echo") as ws:
                await ws.get_message()
                scope.cancel()
                await trio.sleep_forever()
    assert scope.cancelled_caught
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", port)):
        pass


async def test_a_mock_clock_is_rejected(project: Path, mock_clock: object) -> None:
    with pytest.raises(RealClockNeeded, match="mock clock"):
        async with open_server(project):
            pass


async def test_a_package_that_is_missing_is_named(
    server: TestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(ToolMissing, match=r'pip install "fxtrio\[test\]"'):
        _ = server.client


@pytest.mark.node
@pytest.mark.browser
async def test_a_browser_sees_the_page(project: Path) -> None:
    with trio.fail_after(240):
        async with open_server(project, render=True) as server:
            seen = await server.browse(lambda page: page.locator("#seen").inner_text())

    assert seen == "nobody"
