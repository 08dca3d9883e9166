"""`create_app`, and what tests of applications use."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

from starlette.applications import Starlette

import fx
from fx.testing import open_app, open_server
from fxtrio import create_app

app: Starlette = create_app(Path(), csp="enforce")
assert_type(fx.__version__, str)


async def an_app_in_process(root: Path) -> None:
    async with open_app(root) as client:
        page = await client.get("/", headers={"accept": "text/html"})
        assert_type(page.status, int)
        assert_type(page.text, str)
        assert_type(page.json(), Any)
        result = await client.action("/", "add", {"text": "a"})
        assert_type(result.status, int)
        assert_type(result.ok, bool)
        async with client.websocket("/") as ws:
            assert_type(await ws.receive(), str | bytes)
    async with open_server(root, render=True) as server:
        async with server.client as http:
            assert_type((await http.get("/")).status_code, int)
    open_app(7)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
