"""A full task queue that no code of the application catches is a 503, wherever it was met."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fx.testing import SocketClosed, SocketRejected
from tests.contract.projects import open_pages
from tests.contract.rules import rule
from tests.contract.sockets import KINDS, Kind, ask, open_server

FILL = """
    import trio
    from fx.tasks import enqueue

    def fill():
        while True:
            enqueue(trio.sleep_forever)
"""
PAGE = """
    from filling import fill

    @server
    async def load(request):
        if "loader" in request.query_params:
            fill()
        return {}

    def HEAD(data):
        return ""

    @action
    async def act(request):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(inside)

    async def inside():
        fill()

    import trio

    def to_markdown(ctx):
        fill()

    async def websocket(ws):
        if "early" not in ws.query_params:
            await ws.accept()
        fill()
"""
FILES = {
    "filling.py": FILL,
    "filling_hooks.py": """
    from filling import fill

    async def hook(request):
        if "hook" in request.query_params:
            fill()
    """,
    "index": PAGE,
    "error": "",
    "pages/api/it.py": "from filling import fill\nasync def get(request):\n    fill()\n",
}
HOOKS = {kind: ["filling_hooks:hook"] for kind in ("pages", "actions", "apis", "websockets")}
PLACES: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("GET", "/?loader", {}),
    ("GET", "/?loader", {"x-fx-navigation": "1"}),
    ("GET", "/?hook", {}),
    ("GET", "/?hook", {"x-fx-navigation": "1"}),
    ("GET", "/index.md", {}),
    ("GET", "/index.md?hook", {}),
    ("POST", "/api/__actions/index/act", {}),
    ("POST", "/api/__actions/index/act?hook", {}),
    ("GET", "/api/it", {}),
    ("GET", "/api/it?hook", {}),
)
SETTINGS: dict[str, Any] = {
    "route_middleware": HOOKS,
    "llms": {"enabled": True},
    "tasks": {"workers": 1, "capacity": 2, "drain_timeout": 0},
}


@rule("errors.6")
@pytest.mark.parametrize("kind", KINDS)
async def test_errors_6_a_full_queue_is_a_503_that_says_when_to_come_back(
    tmp_path: Path, kind: Kind
) -> None:
    async with (
        open_pages(tmp_path, FILES, **SETTINGS) as client,
        open_server(client, kind) as at,
    ):
        for method, path, headers in PLACES:
            answer = await ask(at, method, path, headers=headers)
            found = (answer.status, answer.headers.get("retry-after"), b"busy" in answer.body)
            assert found == (503, "1", True), f"{method} {path} {headers} {answer}"


@rule("errors.6")
async def test_errors_6_a_websocket_is_closed_with_try_again_later(tmp_path: Path) -> None:
    async with open_pages(tmp_path, FILES, **SETTINGS) as client:
        with pytest.raises(SocketClosed) as closed:
            async with client.websocket("/") as socket:
                await socket.receive()
        assert closed.value.code == 1013
        for path in ("/?early", "/?hook"):
            with pytest.raises(SocketRejected) as rejected:
                async with client.websocket(path):
                    raise AssertionError("must be refused")
            assert rejected.value.status == 503
