"""`realtime.sameOrigin`: sockets of this site's pages alone, unless a handler says otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from fx.testing import SocketClosed, open_app
from tests.trees import page, write_tree

PLAIN = """
    async def websocket(ws):
        await ws.accept()
        await ws.send_text("accepted")
    """
LOOKS = """
    from fx.realtime import origin_allowed

    async def websocket(ws):
        if not origin_allowed(ws, ["https://friend.example"]):
            await ws.close(4001)
            return
        await ws.accept()
        await ws.send_text("accepted")
    """


async def outcome(
    root: Path, path: str, origin: str, *, same_origin: bool = True
) -> tuple[str | bytes | None, int]:
    """Return the first message, and the code of the close."""
    headers = {"host": "shop.example"} | ({"origin": origin} if origin else {})
    first = None
    async with (
        open_app(root, realtime={"same_origin": same_origin}) as client,
        client.websocket(path, headers=headers) as socket,
    ):
        with pytest.raises(SocketClosed) as closed:
            while True:
                first = await socket.receive()
    return first, closed.value.code


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {"pages/index.fxl": page(PLAIN), "pages/looks.fxl": page(LOOKS)}
    return write_tree(tmp_path, files)


@pytest.mark.parametrize("origin", ["https://shop.example", ""])
async def test_pages_of_this_site_and_programs_are_accepted(root: Path, origin: str) -> None:
    assert await outcome(root, "/", origin) == ("accepted", 1000)


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
async def test_pages_of_other_sites_are_closed_with_4403(
    root: Path, origin: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert await outcome(root, "/", origin) == (None, 4403)
    assert "call origin_allowed() in the handler" in caplog.text


async def test_a_handler_that_looks_at_the_origin_decides_itself(root: Path) -> None:
    assert await outcome(root, "/looks", "https://friend.example") == ("accepted", 1000)
    assert await outcome(root, "/looks", "https://evil.example") == (None, 4001)


async def test_without_the_setting_the_handler_decides(root: Path) -> None:
    accepted = ("accepted", 1000)
    assert await outcome(root, "/", "https://evil.example", same_origin=False) == accepted
