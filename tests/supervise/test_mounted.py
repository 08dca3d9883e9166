"""An app below a path, on both servers and in a `Mount` of Starlette, over real sockets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import trio

from ..http1.frames import WebSocket, frame, upgrade
from ..http1.support import Client, Reply
from .support import serve_project
from .test_guard import stock

pytestmark = pytest.mark.node


async def ask(port: int, path: str) -> Reply:
    async with Client(await trio.open_tcp_stream("127.0.0.1", port)) as client:
        await client.send(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        return await client.reply()


async def get(port: int, path: str) -> str:
    reply = await ask(port, path)
    assert reply.status == 200, path
    return reply.body.decode()


async def check(port: int, root: str, *, carries: bool) -> None:
    """Look at a page of the app, at all files that it names, and at its WebSocket."""
    prefix = root if carries else ""
    page = await get(port, f"{prefix}/talk")
    assert f'"requestedPath":"{root}/talk"' in page
    urls = set(re.findall(r'(?:src|href)="([^"]*)"', page))
    assert urls and all(url.startswith(f"{root}/_fx/") for url in urls)
    for url in urls:
        assert "<!DOCTYPE" not in await get(port, url if carries else url.removeprefix(root))
    async with WebSocket(await trio.open_tcp_stream("127.0.0.1", port)) as client:
        await client.send(upgrade(f"{prefix}/talk".encode()))
        assert (await client.reply()).status == 101
        await client.send(frame(1, b"ahoy"))
        assert (await client.frame()).payload == b"ahoy"


async def test_fx_serve_has_an_app_below_the_path_that_a_proxy_takes_off(project: Path) -> None:
    options = ("--root-path", "/pre")
    async with serve_project(project, *options, workers=1, environment={}) as server:
        await check(server.port, "/pre", carries=True)
        await check(server.port, "/pre", carries=False)


async def test_no_path_leads_past_a_proxy_that_takes_the_prefix_off(project: Path) -> None:
    options = ("--root-path", "/pre/", "--root-path-stripped")
    async with serve_project(project, *options, workers=1, environment={}) as server:
        await check(server.port, "/pre", carries=False)
        for path in ("/pre/talk", "/%70re/talk", "/pre/pre/talk"):
            assert (await ask(server.port, path)).status == 404
        assert (await ask(server.port, "/pre")).status == 404


async def test_hypercorn_has_an_app_below_the_path_that_a_proxy_takes_off(project: Path) -> None:
    options = ("--root-path", "/pre")
    async with stock(guarded=False, app="app:app", folder=project, options=options) as server:
        await check(server.port, "/pre", carries=True)
        await check(server.port, "/pre", carries=False)


async def test_a_mount_of_starlette_has_an_app_below_its_path(project: Path) -> None:
    async with stock(guarded=False, app="mounted:outer", folder=project) as server:
        await check(server.port, "/sub", carries=True)
        assert await get(server.port, "/") == "outer"
