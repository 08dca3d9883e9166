"""A session that ends in one of two server processes closes its sockets in both."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import trio

from ..http1.frames import CLOSE, WebSocket, upgrade
from ..http1.support import Reply
from ..trees import page, write_tree
from .support import Running, serve_project

EMAIL, PASSWORD = "ada@example.org", "correct horse battery"
SETTINGS = {"argon2": {"timeCost": 1, "memoryKib": 8, "parallelism": 1}}
FILES = {
    "fx.config.json": json.dumps({"plugins": [{"name": "auth", "settings": SETTINGS}]}),
    "pages/mine.fxl": page(
        """
        import os

        from fx.realtime import authenticate_websocket


        async def websocket(ws):
            user = await authenticate_websocket(ws)
            await ws.accept()
            await ws.send_text(f"{os.getpid()} {user.email}")
            await ws.receive_text()
        """
    ),
}


def run(root: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "fxtrio", *arguments]
    subprocess.run(command, cwd=root, check=True, capture_output=True, timeout=60)


async def post(running: Running, path: bytes, body: object = None, cookie: bytes = b"") -> Reply:
    content = json.dumps(body).encode()
    lines = (
        b"POST %b HTTP/1.1" % path,
        b"Host: a",
        b"Sec-Fetch-Site: same-origin",
        b"Content-Type: application/json",
        b"Cookie: " + cookie,
        b"Content-Length: %d" % len(content),
    )
    async with await running.connect() as client:
        await client.send(b"\r\n".join((*lines, b"", content)))
        return await client.reply()


async def log_in(running: Running) -> bytes:
    """Return the session cookie."""
    answer = await post(running, b"/api/__auth/login", {"email": EMAIL, "password": PASSWORD})
    assert answer.status == 200
    return (answer.get(b"set-cookie") or b"").partition(b";")[0]


async def open_socket(running: Running, cookie: bytes) -> tuple[bytes, WebSocket]:
    """Return the process that serves it and the socket."""
    client = WebSocket((await running.connect()).stream)
    await client.send(upgrade(b"/mine", b"Cookie: " + cookie))
    assert (await client.reply()).status == 101
    process, _, user = (await client.frame()).payload.partition(b" ")
    assert user == EMAIL.encode()
    return process, client


async def test_the_sockets_of_a_session_are_closed_in_every_process(tmp_path: Path) -> None:
    write_tree(tmp_path, FILES)
    run(tmp_path, "build")
    run(tmp_path, "auth", "create-user", EMAIL, "--password", PASSWORD)
    async with (
        serve_project(tmp_path, workers=2, environment={}) as running,
        AsyncExitStack() as stack,
    ):
        cookie = await log_in(running)
        sockets: dict[bytes, WebSocket] = {}
        with trio.fail_after(60):
            while len(sockets) < 2:
                process, client = await open_socket(running, cookie)
                await stack.enter_async_context(client)
                sockets.setdefault(process, client)
        assert (await post(running, b"/api/__auth/logout", {}, cookie)).status == 200
        for client in sockets.values():
            with trio.fail_after(10):
                frame = await client.frame()
            assert (frame.opcode, frame.code) == (CLOSE, 4401)
        running.kill()
        assert await running.exit_code() == 0
