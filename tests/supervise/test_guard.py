"""Hypercorn's own trio worker, with and without the guard: each defect, and its repair.

The processes are real ones: most of these defects end or freeze the whole worker.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import hypercorn.trio.tcp_server
import pytest
import trio
from hypercorn.config import Config
from hypercorn.trio.tcp_server import TCPServer

from fxtrio.server.hypercorn_patches import PATCHES, install_guard

from ..http1.frames import WebSocket, close_frame, frame, upgrade
from ..http1.support import Client
from .support import ROOT


class Stock:
    """A stock Hypercorn worker in a process of its own."""

    def __init__(self, process: trio.Process) -> None:
        self.process = process
        self.log = ""
        self.port = 0

    async def follow(self, pipe: Any, task_status: Any) -> None:
        async for data in pipe:
            self.log += data.decode()
            found = re.search(r"Running on http://127.0.0.1:(\d+)", self.log)
            if found and not self.port:
                self.port = int(found[1])
                task_status.started()

    async def connect(self) -> Client:
        return Client(await trio.open_tcp_stream("127.0.0.1", self.port))

    async def open(self, path: bytes) -> WebSocket:
        client = WebSocket((await self.connect()).stream)
        await client.send(upgrade(path))
        assert (await client.reply()).status == 101
        return client

    async def get(self, path: str = "/") -> bytes:
        async with await self.connect() as client:
            await client.send(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            return (await client.reply()).body

    async def is_alive(self, patience: float) -> bool:
        """Whether it still answers within so many seconds."""
        with trio.move_on_after(patience):
            try:
                return await self.get() == b"fine"
            except (OSError, AssertionError, trio.BrokenResourceError):
                return False
        return False


@asynccontextmanager
async def stock(
    *,
    guarded: bool,
    workers: int = 0,
    app: str = "tests.supervise.guarded:app",
    folder: Path = ROOT,
    options: tuple[str, ...] = (),
) -> AsyncIterator[Stock]:
    command = [sys.executable, "-m", "hypercorn", "--worker-class", "trio"]
    command += ["--workers", str(workers), "--bind", "127.0.0.1:0", "--graceful-timeout", "1"]
    command += options
    async with trio.open_nursery() as nursery:
        process: trio.Process = await nursery.start(
            partial(
                trio.run_process,
                [*command, app],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                check=False,
                cwd=folder,
                env={
                    **os.environ,
                    "GUARDED": "1" if guarded else "",
                    "FX_SECRET_KEY": "a key for tests that is long enough",
                },
                start_new_session=True,
                deliver_cancel=_kill,
            )
        )
        server = Stock(process)
        with trio.fail_after(30):
            await nursery.start(partial(server.follow, process.stderr))
        yield server
        nursery.cancel_scope.cancel()


async def _kill(process: trio.Process) -> None:
    # The whole session that this test started: a worker outlives its parent.
    os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("guarded", [False, True])
async def test_a_bad_offer_to_upgrade_costs_one_connection_and_not_the_worker(
    guarded: bool,
) -> None:
    offer = (
        b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\n"
        b"Connection: Upgrade, HTTP2-Settings, close\r\n"
    )
    async with stock(guarded=guarded) as server:
        async with await server.connect() as client:
            await client.send(offer + b"HTTP2-Settings: a\r\n\r\n")
            answer = await client.read_all()
        assert await server.is_alive(30 if guarded else 2) is guarded
        if guarded:
            assert answer.startswith(b"HTTP/1.1 ")
            assert b" 101 " not in answer


async def test_an_error_of_a_connection_is_a_line_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken:
        async def do_handshake(self) -> None:
            raise LookupError("*" * 10_000)

    install_guard()
    connection: Any = TCPServer(None, Config(), None, None, Broken())  # type: ignore[arg-type]
    with caplog.at_level(logging.ERROR, "fx.server"):
        await connection
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("a connection was dropped: LookupError('**")
    assert len(caplog.messages[0]) < 300


@pytest.mark.parametrize("guarded", [False, True])
async def test_a_loop_that_only_sends_does_not_freeze_the_worker(guarded: bool) -> None:
    async with stock(guarded=guarded) as server:
        async with await server.open(b"/loop") as client:
            await client.frame()
        await trio.sleep(0.3)
        assert await server.is_alive(30 if guarded else 2) is guarded


@pytest.mark.parametrize("guarded", [False, True])
async def test_a_client_that_does_not_read_does_not_hold_the_end_up(guarded: bool) -> None:
    async with stock(guarded=guarded, workers=1) as server, await server.connect() as client:
        await client.send(b"GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
        assert await client.more()
        server.process.send_signal(signal.SIGTERM)
        with trio.move_on_after(30 if guarded else 4) as waited:
            await server.process.wait()
        assert waited.cancelled_caught is not guarded


@pytest.mark.parametrize("guarded", [False, True])
async def test_is_disconnected_turns_true(guarded: bool) -> None:
    async with stock(guarded=guarded) as server:
        async with await server.connect() as client:
            await client.send(b"GET /ask HTTP/1.1\r\nHost: a\r\n\r\n")
            await trio.sleep(0.2)
        with trio.move_on_after(30 if guarded else 0.5):
            while await server.get("/has-disconnected") != b"true":  # noqa: ASYNC110  # no event tells
                await trio.sleep(0.05)
        assert await server.get("/has-disconnected") == (b"true" if guarded else b"false")


# Without the guard, connections of `/big` are left only where the client is slower than the server.
@pytest.mark.parametrize(("guarded", "path"), [(False, b"/ask"), (True, b"/ask"), (True, b"/big")])
async def test_a_client_that_leaves_further_requests_behind_leaves_no_connection(
    guarded: bool, path: bytes
) -> None:
    async with stock(guarded=guarded) as server:
        for _ in range(5):
            async with await server.connect() as client:
                await client.send(b"GET %b HTTP/1.1\r\nHost: a\r\n\r\n" % path * 3)
        if not guarded:
            await trio.sleep(1)
            assert int(await server.get("/connections")) > 1
            return
        with trio.fail_after(30):
            while await server.get("/connections") != b"1":  # noqa: ASYNC110  # no event tells
                await trio.sleep(0.05)


@pytest.mark.parametrize(
    ("guarded", "path"), [(False, b"/refuse"), (True, b"/refuse"), (True, b"/late")]
)
async def test_frames_before_the_handshake_is_answered_end_one_connection_in_order(
    guarded: bool, path: bytes
) -> None:
    async with stock(guarded=guarded) as server:
        async with await server.connect() as client:
            await client.send(upgrade(path) + frame(1, b"early"))
            if guarded:
                assert re.match(rb"HTTP/1.1 40[03] ", await client.read_all())
        async with await server.connect() as client:
            await client.send(upgrade(path))
            await client.send(frame(1, b"early"))
            if guarded:  # a reset may overtake the response
                with suppress(trio.BrokenResourceError):
                    await client.more()
                    # A busy machine accepts before the frame has come, which is no early one then.
                    if not client.buffer.startswith(b"HTTP/1.1 101 "):
                        await client.read_all()
        with trio.fail_after(30):
            while guarded and await server.get("/connections") != b"1":  # noqa: ASYNC110
                await trio.sleep(0.05)
            while not guarded and "LocalProtocolError" not in server.log:  # noqa: ASYNC110
                await trio.sleep(0.05)
        assert ("LocalProtocolError" in server.log) is not guarded


@pytest.mark.parametrize("guarded", [False, True])
async def test_the_close_code_of_the_client_is_reported(guarded: bool) -> None:
    async with stock(guarded=guarded) as server:
        async with await server.open(b"/wait") as client:
            await client.send(close_frame(4003, b"why"))
            await client.read_all()
        await trio.sleep(0.3)
        assert await server.get("/closed") == (b"4003 why" if guarded else b"1006 ")


@pytest.mark.parametrize("guarded", [False, True])
async def test_compression_of_messages_is_not_agreed_to(guarded: bool) -> None:
    offer = upgrade(b"/echo", b"Sec-WebSocket-Extensions: permessage-deflate")
    async with stock(guarded=guarded) as server, await server.connect() as client:
        await client.send(offer)
        reply = await client.reply()
        assert reply.status == 101
        assert (reply.get(b"sec-websocket-extensions") is None) is guarded


@pytest.mark.parametrize("guarded", [False, True])
async def test_a_response_that_ends_the_connection_says_so(guarded: bool) -> None:
    closes = b"close" if guarded else None
    async with stock(guarded=guarded) as server:
        async with await server.connect() as client:
            await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\nabc")
            reply = await client.reply()
            assert (reply.status, reply.get(b"connection")) == (405, closes)
            assert await client.is_closed()
        async with await server.connect() as client:  # a handshake that is denied
            await client.send(upgrade(b"/"))
            reply = await client.reply()
            assert (reply.status, reply.get(b"connection")) == (403, b"close")
            assert await client.is_closed()
        async with await server.connect() as client:  # one that was read through
            for _ in range(2):
                await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
                reply = await client.reply()
                assert (reply.status, reply.get(b"connection")) == (405, None)


async def test_an_echo_works_under_the_guard() -> None:
    async with stock(guarded=True) as server, await server.open(b"/echo") as client:
        for number in range(100):
            await client.send(frame(1, b"%d" % number))
            assert (await client.frame()).payload == b"%d" % number


def test_every_defect_is_present_in_the_hypercorn_that_is_pinned() -> None:
    # Fails when an update answers one: then its patch can go.
    if not hasattr(hypercorn.trio.tcp_server, "__fx_guard__"):
        assert all(patch.present() for patch in PATCHES.values())
    assert install_guard() == tuple(PATCHES)
    assert install_guard() == tuple(PATCHES), "the second time changes nothing"


def test_a_patch_stays_off_where_its_defect_is_fixed() -> None:
    install_guard()
    for name in sorted(PATCHES.keys() - {"close code"}):  # it changes no source that is looked at
        assert not PATCHES[name].present(), name


def test_other_releases_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(hypercorn.trio.tcp_server, "__fx_guard__", raising=False)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0.19.0")
    assert install_guard() == ()


@pytest.mark.node
async def test_the_stock_command_serves_an_app_under_the_guard(project: Path) -> None:
    twice = b"GET /api/big HTTP/1.1\r\nHost: a\r\nOrigin: http://a\r\nOrigin: http://b\r\n\r\n"
    async with stock(guarded=False, app="app:app", folder=project) as server:
        async with await server.connect() as client:
            await client.send(twice)
            assert (await client.reply()).status == 400
            assert await client.is_closed()
        async with await server.connect() as client:
            await client.send(twice.replace(b"Origin: http://b\r\n", b""))
            assert (await client.reply()).status == 200
        for host in (b"a,b", b"", b":80"):
            async with await server.connect() as client:
                await client.send(b"GET /api/big HTTP/1.1\r\nHost: %b\r\n\r\n" % host)
                assert (await client.reply()).status == 400


UNREAD = b"Host: a\r\nContent-Length: 90000000\r\nOrigin: http://%b\r\n\r\n{"
REJECTIONS = {
    403: b"POST /api/take HTTP/1.1\r\n" + UNREAD % b"b",
    404: b"POST /api/__actions/nowhere/begin HTTP/1.1\r\n" + UNREAD % b"a",
    405: b"PUT /talk HTTP/1.1\r\n" + UNREAD % b"a",
    413: b"POST /api/take HTTP/1.1\r\n" + UNREAD % b"a",
}


@pytest.mark.node
async def test_the_stock_command_announces_the_end_and_logs_as_fx_serve_does(project: Path) -> None:
    line = r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}\] \[\d+\] \[ERROR\] .*"
    async with stock(guarded=False, app="app:app", folder=project) as server:
        for status, request in REJECTIONS.items():
            async with await server.connect() as client:
                await client.send(request)
                reply = await client.reply()
                assert (reply.status, reply.get(b"connection")) == (status, b"close")
                assert await client.is_closed()
        async with await server.connect() as client:
            await client.send(b"GET /api/slow HTTP/1.1\r\nHost: a\r\n\r\n")
            reply = await client.reply()
            assert (reply.status, reply.get(b"connection")) == (500, None)
            request_id = reply.get(b"x-request-id")
        assert request_id is not None
        with trio.fail_after(30):
            while "KeyError" not in server.log:  # noqa: ASYNC110  # no event tells
                await trio.sleep(0.05)
    assert re.search(
        rf"^{line}/api/slow.*\[request {request_id.decode()}\]$", server.log, re.MULTILINE
    )
    assert re.search(r"^    KeyError", server.log, re.MULTILINE)


_REPLACED = """
import importlib, inspect, json, pkgutil
import hypercorn.protocol, hypercorn.trio, hypercorn.trio.tcp_server
from fxtrio.server.hypercorn_patches import PATCHES, install_guard

def members():
    found = {}
    for package in (hypercorn.protocol, hypercorn.trio):
        names = [package.__name__, *(f"{package.__name__}.{m.name}"
                                     for m in pkgutil.iter_modules(package.__path__))]
        for name in names:
            if name.endswith((".quic", ".h3", ".http_request", ".udp_server")):
                continue
            for key, value in list(vars(importlib.import_module(name)).items()):
                if inspect.isclass(value) and value.__module__ == name:
                    for each, member in vars(value).items():
                        found[f"{name}:{value.__qualname__}.{each}"] = member
                found[f"{name}:{key}"] = value
    return found

before = members()
install_guard()
after = members()
changed = {name for name in after if after[name] is not before.get(name)}
said = {name for patch in PATCHES.values() for name in patch.replaces}
mark = "hypercorn.trio.tcp_server:__fx_guard__"
print(json.dumps(sorted(changed - {mark} ^ said)))
"""


def test_each_patch_says_what_it_replaces() -> None:
    command = [sys.executable, "-c", _REPLACED]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
