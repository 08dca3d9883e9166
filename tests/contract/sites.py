"""The project in `probe` behind real sockets, on each server that the contract names.

The servers are processes of their own, as users start them: `fx serve`, and Hypercorn's own
command with its trio workers.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import httpx
from websockets.sync.client import ClientConnection, connect

from tests.built import KEY
from tests.ports import free_port

PROBE = Path(__file__).parent / "probe"
PATIENCE = 60.0
FROM_OWN_PAGES = {"Sec-Fetch-Site": "same-origin"}


@attrs.frozen
class Server:
    """How the probe is served."""

    name: str
    command: tuple[str, ...]
    """What is run in the project's folder; the address to bind follows."""

    base: str = ""
    """The setting `baseUrl`."""

    workers: int = 1


_FX = ("-m", "fxtrio", "serve")
_HYPERCORN = ("-m", "hypercorn", "--worker-class", "trio", "app:app")

SERVERS = (
    Server("fx", (*_FX, "--bind")),
    Server("fx-2-workers-base-url", (*_FX, "--workers", "2", "--bind"), "/base/x", 2),
    Server("hypercorn", (*_HYPERCORN, "--bind")),
    Server("hypercorn-2-workers-base-url", (*_HYPERCORN, "-w", "2", "--bind"), "/base/x", 2),
)


@attrs.frozen
class Site:
    """The served probe, as a client sees it. Paths are below the base URL."""

    server: Server
    place: str
    client: httpx.Client

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Ask for a page. Underscores in the names of ``headers`` stand for dashes."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.get(self.server.base + path, headers=named)

    def navigate(self, path: str) -> Any:
        """Return the navigation payload of a page."""
        return self.get(path, x_fx_navigation="1").json()

    def post(self, path: str, **options: Any) -> httpx.Response:
        """Post something, without any proof of where it comes from unless the caller passes one."""
        return self.client.post(self.server.base + path, **options)

    def act(self, name: str, body: Any = None, *, page: str = "index") -> httpx.Response:
        """Call an action as the page's own code does."""
        path = f"/api/__actions/{page}/{name}"
        return self.post(path, json=body, headers=FROM_OWN_PAGES)

    def socket(self, path: str, **headers: str) -> ClientConnection:
        """Open a WebSocket; it is closed with the block."""
        url = f"ws://{self.place}{self.server.base}{path}"
        return connect(url, additional_headers=headers, open_timeout=PATIENCE, proxy=None)


def build_probe(folder: Path, base: str) -> Path:
    """Build a copy of the probe for a base URL. Returns its folder."""
    project = Path(shutil.copytree(PROBE, folder / (base.replace("/", "-") or "root")))
    subprocess.run(
        [sys.executable, "-m", "fxtrio", "build", "--root", str(project)],
        env={**_environment(base), "FX_COMPRESSION": "off"},  # which takes as long as all the rest
        check=True,
        capture_output=True,
        timeout=PATIENCE,
    )
    return project


@contextmanager
def serve_probe(project: Path, server: Server) -> Iterator[Site]:
    """Serve a built probe for as long as the block lasts."""
    place = f"127.0.0.1:{free_port()}"
    process = subprocess.Popen(
        [sys.executable, *server.command, place],
        cwd=project,
        env=_environment(server.base),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        with httpx.Client(base_url=f"http://{place}", timeout=PATIENCE, trust_env=False) as client:
            _wait_until_ready(client, process)
            yield Site(server, place, client)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # the session that this block began
            process.wait(PATIENCE)


def _environment(base: str) -> dict[str, str]:
    return {**os.environ, "FX_SECRET_KEY": KEY, "FX_BASE_URL": base}


def _wait_until_ready(client: httpx.Client, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        assert process.poll() is None, "the server has ended"
        try:
            client.get("/readyz")
            return
        except httpx.TransportError:
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.05)  # there is no event to wait for from outside
