"""`fx serve` and stock Hypercorn in processes of their own, with the application of the attacks."""

from __future__ import annotations

import json
import os
import re
import signal
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import attrs
import trio

from fxtrio.server.supervise import ServeOptions

from ..http1.support import Client
from ..supervise.support import ROOT, Process, open_command
from .client import PATIENCE, Http2
from .settings import graceful_timeout, limits

CERTIFICATE = str(Path(__file__).parents[1] / "http1" / "certificate.pem")
Kind = Literal["fx", "stock"]


@attrs.define
class Target:
    """A server that is attacked."""

    kind: Kind
    secure: bool
    process: Process
    port: int = 0
    log: str = ""
    output: str = ""

    async def plain(self) -> Any:
        """Return a connection without TLS, whatever the port speaks."""
        return await trio.open_tcp_stream("127.0.0.1", self.port)

    async def stream(self, *protocols: str) -> Any:
        """Return a connection in which one of ``protocols`` was agreed on."""
        plain = await self.plain()
        if not self.secure:
            return plain
        context = ssl.create_default_context(cafile=CERTIFICATE)
        context.set_alpn_protocols(list(protocols))
        stream = trio.SSLStream(plain, context, server_hostname="localhost", https_compatible=True)
        try:
            with trio.fail_after(PATIENCE):
                await stream.do_handshake()
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise
        return stream

    async def http2(self) -> Http2:
        return Http2(await self.stream("h2"))

    async def http1(self) -> Client:
        return Client(await self.stream("http/1.1"))

    async def get(self, path: str = "/") -> bytes:
        """Return what another client, of HTTP/1.1, is answered."""
        async with await self.http1() as client:
            await client.send(
                f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode()
            )
            return (await client.reply()).body

    async def state(self) -> dict[str, Any]:
        """Return what the process has open, and the events of its applications since."""
        state: dict[str, Any] = json.loads(await self.get("/state"))
        return state

    async def stop(self) -> int:
        """Send SIGTERM and return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return await self.process.wait()


@asynccontextmanager
async def target(
    kind: Kind, *, secure: bool = False, workers: int = 0, guarded: bool = True, **options: Any
) -> AsyncIterator[Target]:
    """Run a server; when the block ends it is killed if it still runs."""
    if kind == "fx":
        serve_options = ServeOptions(
            app="tests.http2.app:app",
            app_dir=str(ROOT),
            bind=("127.0.0.1:0",),
            workers=workers or 1,
            certfile=CERTIFICATE if secure else None,
            graceful=graceful_timeout,
            limits=limits,
            **{"h2c": True, **options},
        )
        command = ["-m", "tests.supervise.serve", serve_options.to_json()]
    else:
        command = ["-m", "hypercorn", "--worker-class", "trio", "--bind", "127.0.0.1:0"]
        command += ["--workers", str(workers), "-c", "file:tests/http2/settings.py"]
        command += [*(["--certfile", CERTIFICATE, "--keyfile", CERTIFICATE] if secure else [])]
        command += [*options.get("arguments", ()), "tests.http2.app:app"]
    variables = {**os.environ, "GUARDED": "1" if guarded else ""}
    async with (
        open_command([sys.executable, *command], ROOT, variables) as (process, output, log),
        trio.open_nursery() as nursery,
    ):
        running = Target(kind, secure, process)
        nursery.start_soon(_follow, running, output, "output")
        with trio.fail_after(30):
            await nursery.start(_follow, running, log, "log")
        try:
            yield running
        finally:
            print(running.log)  # pytest shows it when the test fails
            nursery.cancel_scope.cancel()


async def _follow(running: Target, pipe: Any, name: str, task_status: Any = None) -> None:
    async for data in pipe:
        setattr(running, name, getattr(running, name) + data.decode())
        found = re.search(r"Running on https?://127.0.0.1:(\d+)", running.log)
        if found and not running.port:
            running.port = int(found[1])
            if task_status is not None:
                task_status.started()
