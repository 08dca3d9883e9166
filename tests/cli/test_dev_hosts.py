"""`fx dev` answers for this machine only, whatever name leads to it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import trio

from fxtrio.develop.serving.allowed_hosts import is_known
from tests.ports import free_port
from tests.trees import write_tree

PROJECT = {
    "pages/index.fxl": "from fx.runtime import action, server\n\n\n"
    "@server\nasync def load(request):\n    return {'secret': 'tr0ub4dor'}\n\n\n"
    "@action\nasync def add(request):\n    return {}\n\n\n"
    "async def websocket(ws):\n    await ws.accept()\n    await ws.close()\n\n\n"
    "export default ({ data }) => <p>{data.secret}</p>;\n",
    "api/plain.py": "async def get(request):\n    return {'secret': 'tr0ub4dor'}\n",
    "public/notes.txt": "tr0ub4dor",
    "fx.config.json": '{"dev": {"hosts": ["shop.test", ".team.test"]}}',
}

ENTRY = "/_fx/@id/__x00__virtual:fx/client"
PATHS = ["/", "/notes.txt", ENTRY, "/_fx/pages/index.fxl.tsx", "/nowhere", "/api/__csrf"]


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8000",
        "shop.localhost:1",
        "localhost.",
        "127.0.0.1:8000",
        "127.9.9.9",
        "[::1]:8000",
        "192.168.7.7:8000",
        "shop.test:8000",
        "a.team.test",
    ],
)
def test_names_of_this_machine_are_known(host: str) -> None:
    assert is_known(host, own="192.168.7.7", allowed=["shop.test", ".team.test"])


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "localhost.evil.example",
        "evil-localhost",
        "127.0.0.1.evil.example",
        "team.test.evil.example",
        "evilteam.test",
        "x.shop.test",
        "192.168.7.8",
        "0.0.0.0:8000",
        "[::]",
        "localhost@evil.example",
        "evil.example/localhost",
        "localhost:8000:1",
        "localhost evil.example",
        "2130706433",
        "0x7f.1",
    ],
)
def test_other_names_are_not(host: str) -> None:
    assert not is_known(host, own="192.168.7.7", allowed=["shop.test", ".team.test"])
    assert not is_known(host, own="0.0.0.0", allowed=["shop.test", ".team.test"])


@asynccontextmanager
async def developing(root: Path) -> AsyncIterator[int]:
    """Run `fx dev` in a project, and yield its port once it answers."""
    port = free_port()
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)],
        cwd=root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            while True:
                try:
                    await client.get("/readyz")
                    break
                except httpx.TransportError:
                    assert process.returncode is None, "fx dev has ended"
                    await trio.sleep(0.05)
        yield port
        process.terminate()
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()


async def ask(port: int, head: str) -> bytes:
    """Send lines of a request, and return the answer; of a WebSocket only the beginning."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    async with stream:
        ending = [] if WEBSOCKET in head else ["Connection: close"]
        lines = [*head.splitlines(), *ending, "", ""]
        await stream.send_all("\r\n".join(lines).encode())
        answer = b""
        while part := await stream.receive_some():
            answer += part
            if answer.startswith(b"HTTP/1.1 101 "):
                break
        return answer


WEBSOCKET = (
    "Upgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
)


@pytest.mark.node
async def test_names_and_pages_of_other_sites_reach_nothing(tmp_path: Path) -> None:
    write_tree(tmp_path, PROJECT)
    with trio.fail_after(120):
        async with developing(tmp_path) as port:
            evil = f"Host: evil.example:{port}\nOrigin: http://evil.example:{port}"
            rejected = [await ask(port, f"GET {path} HTTP/1.1\n{evil}") for path in PATHS]
            action = "/api/__actions/index/add"
            posted = f"Sec-Fetch-Site: same-origin\nContent-Length: 0\n{evil}"
            rejected.append(await ask(port, f"POST {action} HTTP/1.1\n{posted}"))
            rejected.append(await ask(port, f"GET / HTTP/1.1\n{evil}\n{WEBSOCKET}"))
            rejected.append(await ask(port, f"GET /_fx/@hot HTTP/1.1\n{evil}\n{WEBSOCKET}"))
            for answer in rejected:
                assert answer.startswith(b"HTTP/1.1 403 "), answer
                assert b"tr0ub4dor" not in answer
                assert b'{"dev": {"hosts": ["NAME"]}}' in answer

            for host in (f"localhost:{port}", f"127.0.0.1:{port}", "shop.test", "a.team.test"):
                page = await ask(port, f"GET / HTTP/1.1\nHost: {host}")
                assert page.startswith(b"HTTP/1.1 200 "), page
                assert b"tr0ub4dor" in page
            own = f"Host: localhost:{port}\nSec-Fetch-Site: same-origin"
            entry = await ask(port, f"GET {ENTRY} HTTP/1.1\n{own}")
            assert entry.startswith(b"HTTP/1.1 200 ")
            updates = await ask(port, f"GET /_fx/@hot HTTP/1.1\n{own}\n{WEBSOCKET}")
            assert updates.startswith(b"HTTP/1.1 101 ")
            await assert_own_pages_alone(port)


async def assert_own_pages_alone(port: int) -> None:
    """Pages of other sites may not use actions, modules and updates."""
    foreign = ["Origin: http://evil.example", "Sec-Fetch-Site: cross-site"]
    foreign += ["Origin: null", "Sec-Fetch-Site: same-site"]
    for proof in foreign:
        head = f"Host: localhost:{port}\n{proof}"
        action = "POST /api/__actions/index/add HTTP/1.1"
        for answer in (
            await ask(port, f"{action}\n{head}\nContent-Length: 0"),
            await ask(port, f"GET {ENTRY} HTTP/1.1\n{head}"),
            await ask(port, f"GET /_fx/@hot HTTP/1.1\n{head}\n{WEBSOCKET}"),
        ):
            assert answer.startswith(b"HTTP/1.1 403 "), (proof, answer)


@pytest.mark.node
async def test_the_error_page_of_a_broken_app_is_guarded_too(tmp_path: Path) -> None:
    write_tree(tmp_path, {**PROJECT, "pages/index.fxl": "def broken(:\n"})
    with trio.fail_after(120):
        async with developing(tmp_path) as port:
            own = await ask(port, f"GET / HTTP/1.1\nHost: localhost:{port}")
            assert own.startswith(b"HTTP/1.1 500 ")
            assert b"index.fxl" in own
            foreign = await ask(port, f"GET / HTTP/1.1\nHost: evil.example:{port}")
            assert foreign.startswith(b"HTTP/1.1 403 ")
            assert b"index.fxl" not in foreign
