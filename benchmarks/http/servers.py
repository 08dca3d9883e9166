"""The servers that are compared, each serving one application of `benchmarks.http.apps`."""

from __future__ import annotations

import contextlib
import http.client
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import attrs

from benchmarks.cache import CACHE
from benchmarks.processes import end
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
_REQUIREMENTS = Path(__file__).with_name("requirements.txt")
_START = 20.0


@attrs.frozen
class Server:
    """A way to serve; ``command`` has ``{port}`` and ``{app}`` in it."""

    name: str
    command: tuple[str, ...]


def peers_python() -> str:
    """Return an interpreter with uvicorn, installed once into the benchmarks' cache."""
    folder = CACHE / "http"
    python, installed = folder / "bin" / "python", folder / "installed.txt"
    wanted = _REQUIREMENTS.read_text()
    if not installed.exists() or installed.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run(
            [str(python), "-m", "pip", "install", "-q", "-r", str(_REQUIREMENTS)], check=True
        )
        installed.write_text(wanted)
    return str(python)


def servers(peers: str, module: str = "benchmarks.http.apps") -> dict[str, Server]:
    """Return every server by name. ``peers`` is an interpreter with uvicorn."""
    ours = (sys.executable, "-m", "benchmarks.http.serve", "{port}", f"{module}:{{app}}")
    uvicorn = (
        *(peers, "-m", "uvicorn", f"{module}:{{app}}", "--port", "{port}", "--loop", "uvloop"),
        *("--http", "httptools", "--no-access-log", "--log-level", "warning"),
    )
    stock = (
        *(sys.executable, "-m", "hypercorn", f"{module}:{{app}}", "--workers", "0"),
        *("--worker-class", "trio", "--bind", "127.0.0.1:{port}"),
    )
    every = [
        Server("ours", ours),
        Server("ours, access log", (*ours, "--access-log")),
        Server("uvicorn", (*uvicorn, "--ws", "websockets")),
        Server("uvicorn, sansio", (*uvicorn, "--ws", "websockets-sansio")),
        Server("hypercorn", stock),
    ]
    return {server.name: server for server in every}


@contextlib.contextmanager
def serving(
    server: Server, app: str, *, body: bytes = b"Hello, world!"
) -> Iterator[tuple[int, int]]:
    """Serve for the block; yield the port and the process id. It must answer with ``body``."""
    port = free_port()
    command = [part.format(port=port, app=app) for part in server.command]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True
    )
    try:
        _wait_for_answer(server, port, body)
        yield port, process.pid
    finally:
        end(process, patience=5)


def _wait_for_answer(server: Server, port: int, wanted: bytes) -> None:
    until = time.monotonic() + _START
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
            connection.request("GET", "/")
            body = connection.getresponse().read()
            connection.close()
        except OSError:
            if time.monotonic() > until:
                raise RuntimeError(f"{server.name}: it did not answer in {_START} s") from None
            time.sleep(0.05)
        else:
            if body != wanted:
                raise RuntimeError(f"{server.name}: it answered {body!r}")
            return
