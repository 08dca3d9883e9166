"""The app under attack: built once, served by `fx serve` with a real socket."""

from __future__ import annotations

import json
import math
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import psutil
import trio

from ..http1.frames import WebSocket, upgrade
from ..http1.guides_nginx import PAGES, nginx_before
from ..http1.support import Reply
from ..machines.nginx import NGINX
from ..supervise.support import Running, serve_project
from .cases import SESSION, Case, Message

APP = Path(__file__).parent / "app"
ACCOUNT = {"email": "ada@example.org", "password": "a password of the attack"}
PATIENCE = 30.0
"""Seconds after which a connection that should have ended has not."""

QUIET = 0.3
"""Seconds of silence after which a conversation that nobody ends is over."""


def build(folder: Path) -> Path:
    """Build the app in a new folder below ``folder`` and return that."""
    leftovers = shutil.ignore_patterns(".fx", "data", "__pycache__")
    root = Path(shutil.copytree(APP, folder / "app", ignore=leftovers))
    subprocess.run([sys.executable, "-m", "fxtrio", "build"], cwd=root, check=True, timeout=300)
    return root


@attrs.define
class Target:
    """A server process. ``canary`` is what nobody but a signed-in user may see."""

    running: Running
    canary: bytes
    key: str
    inner: bytes = b""
    """What a proxy in front denies to everybody."""

    proxy: int = 0
    """The port of that proxy; 0 without nginx."""

    session: bytes = b""
    log_read: int = 0
    """Characters of the log that have been looked at."""

    async def ask(self, message: Message) -> Reply:
        """Send a sound request over a connection of its own."""
        async with await self.running.connect() as client:
            await client.send(message.with_headers((b"Connection", b"close")).to_bytes())
            return await client.reply(message.method.decode())

    async def open_websocket(self, path: bytes, *fields: bytes) -> tuple[WebSocket, Reply]:
        """Send a handshake and return the connection with the answer."""
        client = WebSocket((await self.running.connect()).stream)
        await client.send(upgrade(path, *fields))
        return client, await client.reply()

    async def log_in(self) -> Reply:
        """Sign in, and keep the session for cases that need one."""
        body = json.dumps(ACCOUNT).encode()
        headers = ((b"Content-Type", b"application/json"),)
        reply = await self.ask(Message(b"/api/__auth/login", b"POST", headers, body))
        found = re.match(rb"sid=([^;]+)", reply.get(b"set-cookie") or b"")
        if found:
            self.session = found[1]
        return reply

    async def logged(self, mark: bytes) -> str:
        """Return the access log, once it has a request with ``mark``."""
        await self.running.wait_until(lambda: mark.decode() in self.running.output)
        return self.running.output

    async def take_state(self) -> dict[str, Any]:
        """Return what the process has noticed since the last request, and what it holds."""
        headers = ((b"x-watch", self.key.encode()),)
        reply = await self.ask(Message(b"/api/watch", headers=headers))
        assert reply.status == 200, reply
        state: dict[str, Any] = json.loads(reply.body)
        process = psutil.Process(self.running.process.pid)
        held = {"files": process.num_fds(), "bytes": process.memory_info().rss}
        return {**state, **held}

    def take_log(self) -> str:
        """Return the lines that were logged since the last time."""
        end = self.running.log.rfind("\n") + 1
        text = self.running.log[self.log_read : end]
        self.log_read = max(self.log_read, end)
        return text

    async def send(self, case: Case) -> bytes:
        """Send a case and return what comes back. Raises TooSlowError when nothing ends it."""
        received = bytearray()
        with trio.fail_after(PATIENCE):
            port = self.proxy if case.proxied else self.running.port
            async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
                sent = trio.Event()
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._send, stream, case, sent)
                    await _receive(stream, received, sent, case.protocol != "http1")
                    nursery.cancel_scope.cancel()
                await trio.aclose_forcefully(stream)
        return bytes(received)

    async def _send(self, stream: trio.SocketStream, case: Case, sent: trio.Event) -> None:
        try:
            for piece in case.pieces:
                await stream.send_all(piece.replace(SESSION, self.session))
                await trio.lowlevel.checkpoint()
            if case.protocol == "http1":
                await stream.send_eof()
        except trio.BrokenResourceError:
            pass  # it has seen enough; what it said can still be read
        sent.set()


async def _receive(
    stream: trio.SocketStream, received: bytearray, sent: trio.Event, leaves: bool
) -> None:
    """Read until the server ends it, or, if the client ``leaves``, until nothing more comes."""
    while True:
        with trio.move_on_after(QUIET if leaves else math.inf) as silence:
            try:
                data = await stream.receive_some(65536)
            except trio.BrokenResourceError:
                return
            if not data:
                return
            received += data
        if silence.cancelled_caught and sent.is_set():
            return


@asynccontextmanager
async def open_target(
    root: Path, *, planted: bool = False, database: Callable[[], str] | None = None
) -> AsyncIterator[Target]:
    """Serve a built app; its canary, its keys and its database are new ones each time.

    ``planted`` turns on the mistakes that it makes on purpose, ``database`` makes a database
    that is no file. Where there is nginx, it stands in front, as our guides set it up.
    """
    canary, key, inner = (f"{name}{secrets.token_hex(16)}" for name in ("canary", "", "inner"))
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/attack.db" if database is None else database()
        environment = {"ATTACK_CANARY": canary, "ATTACK_KEY": key, "ATTACK_INNER": inner}
        environment |= {"ATTACK_PLANTED": "1"} if planted else {}
        environment |= {"FX_DATABASE__URL": url}
        options = ("--access-log", "json", "--h2c")
        async with (
            serve_project(root, *options, workers=1, environment=environment) as running,
            _open_proxy(running, Path(folder)) as proxy,
        ):
            target = Target(running, canary.encode(), key, inner.encode(), proxy)
            reply = await target.log_in()
            assert reply.status == 200, reply
            yield target


@asynccontextmanager
async def _open_proxy(running: Running, folder: Path) -> AsyncIterator[int]:
    if not await trio.Path(NGINX).exists():
        yield 0
        return
    async with nginx_before(running.port, PAGES[0], folder) as nginx:
        yield nginx.port
