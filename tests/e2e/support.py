"""Real servers and a real browser for the end-to-end tests."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryFile

import attrs
import psutil
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tests.forked import FX, start
from tests.ports import free_port

REPOSITORY = Path(__file__).parents[2]
EXAMPLES = REPOSITORY / "examples"

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
"""Chromium without windows costs a fifth less."""
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Two renderers for each window, for the list below its address bar. This takes the place of
    # what Playwright leaves out itself, so that is here once more.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,"
    "AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,"
    "HttpsFirstBalancedModeAutoEnable,MediaRouter,OptimizationHints,PaintHolding,"
    "ThirdPartyStoragePartitioning,"
    # What no page sees, and what takes an eighth of the work of a visit: a renderer in reserve
    # for each, and what looks at each page to translate it, or for pictures and music.
    "SpareRendererForSitePerProcess,Translate,LensOverlay,GlobalMediaControls",
)

PATIENCE = 60_000.0
"""How long a page may take to show what it shall (ms): the machine may be busy."""

CLOSING = 5.0
"""How long the browser may take to close before it is killed (seconds): some never end."""


@attrs.frozen
class Server:
    """A server process of a project."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path
    _begin: int = 0
    """How much of the log was printed for others (bytes)."""

    def output(self) -> str:
        """Return what the process has printed so far."""
        return self.log.read_bytes()[self._begin :].decode("utf-8", "replace")

    def from_now_on(self) -> Server:
        """Return this server without what it has printed so far."""
        return attrs.evolve(self, begin=self.log.stat().st_size)


def copy_example(name: str, to: Path) -> Path:
    """Return a copy of an example without anything a build or run left in it."""
    ignored = shutil.ignore_patterns(".fx", "*.sqlite3*", "__pycache__", "node_modules")
    return Path(shutil.copytree(EXAMPLES / name, to / name, ignore=ignored))


UNCOMPRESSED = {"FX_COMPRESSION": "off"}
"""For a build: to compress its files for good takes as long as all the rest."""


def fx(*arguments: str, cwd: Path, env: dict[str, str] | None = None) -> str:
    """Run an ``fx`` command to its end and return what it wrote; builds stay uncompressed."""
    defaults = UNCOMPRESSED if arguments[0] == "build" else {}
    variables = {**os.environ, **defaults, **(env or {})}
    with TemporaryFile() as file:
        number = file.fileno()
        command = [*FX, *arguments]
        with start(command, cwd=cwd, env=variables, stdout=number, stderr=number) as process:
            code = process.wait(300)
        file.seek(0)
        printed = file.read().decode()
    assert code == 0, printed
    return printed


@contextmanager
def served(project: Path, *options: str, env: dict[str, str] | None = None) -> Iterator[Server]:
    """Serve a built project with ``fx serve`` for the length of the block.

    Leaving the block sends SIGTERM and expects exit code 0.
    """
    port = free_port()
    command = [sys.executable, "-m", "fxtrio", "serve", "--port", str(port), *options]
    with serving(command, project, port, env=env) as server:
        yield server
        server.process.send_signal(signal.SIGTERM)
        code = server.process.wait(60)
        assert code == 0, server.output()


@contextmanager
def serving(
    command: Sequence[str],
    project: Path,
    port: int,
    *,
    env: dict[str, str] | None = None,
    ready: int = 200,
) -> Iterator[Server]:
    """Run a server command until the block ends; it must answer on ``port`` within a minute.

    ``ready`` is the status of `/readyz` then.
    """
    log = project / f"server-{port}.log"
    key = {"FX_SECRET_KEY": "a key for tests that is long enough"}
    with log.open("wb") as file:
        variables = {**os.environ, **key, **(env or {})}
        number = file.fileno()
        process = start(
            command, cwd=project, env=variables, stdout=number, stderr=number, session=True
        )
    server = Server(f"http://127.0.0.1:{port}", process, log)
    try:
        _wait_until_ready(server, ready)
        yield server
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def read_text(url: str) -> str:
    """Return what an address answers, with any status; "" when the connection breaks off.

    A client of httpx would take 30 ms to make.
    """
    try:
        with urllib.request.urlopen(url, timeout=60) as response:
            return str(response.read(), "utf-8")
    except urllib.error.HTTPError as error:
        return str(error.read(), "utf-8")
    except OSError:  # the server process is replaced
        return ""


def _wait_until_ready(server: Server, status: int) -> None:
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        assert server.process.poll() is None, server.output()
        try:
            with urllib.request.urlopen(server.url + "/readyz", timeout=2) as response:
                if response.status == status:
                    return
        except urllib.error.HTTPError as error:
            if error.code == status:
                return
            pause()
        except (OSError, urllib.error.URLError):
            server.process.poll()
            pause()
    raise AssertionError(f"not ready within a minute:\n{server.output()}")


def pause() -> None:
    """Give another process a moment: there is no event to wait for from outside."""
    with socket.socket() as nobody:
        nobody.settimeout(0.05)
        nobody.bind(("127.0.0.1", 0))
        nobody.listen()
        try:
            nobody.accept()
        except TimeoutError:
            return


@attrs.define(slots=False)  # Playwright puts its wrappers of handlers on the object
class Visitor:
    """A browser page that remembers what went wrong in it."""

    page: Page
    complaints: list[str] = attrs.field(factory=list)

    def watch(self) -> None:
        """Note console warnings and errors, uncaught errors and failed requests."""
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text} ({message.location['url']})")


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Run Debian's Chromium for the length of the block."""
    expect.set_options(timeout=PATIENCE)
    ending = threading.Timer(CLOSING, _kill_drivers)
    ending.daemon = True
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=CHROMIUM, args=list(CHROMIUM_FLAGS), timeout=PATIENCE
            )
            try:
                yield browser
            finally:
                ending.start()
                browser.close()
    finally:
        ending.cancel()


def _kill_drivers() -> None:
    """End the programs of Playwright: its stop waits for ever when a browser does not end."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if any("playwright" in word for word in child.cmdline()):
                child.kill()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextmanager
def serving_files(folder: Path) -> Iterator[str]:
    """Serve the files of a folder, as a host without code does; gives its URL."""
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def visit(browser: Browser, *, javascript: bool = True) -> Visitor:
    """Return a fresh page in a context of its own."""
    context = browser.new_context(java_script_enabled=javascript)
    context.set_default_timeout(PATIENCE)
    visitor = Visitor(context.new_page())
    visitor.watch()
    return visitor


def nodes_of(pid: int) -> list[int]:
    """Return the ids of the Node processes below a process, its children's included."""
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has ended since
            if child.name().startswith("node") or "worker.cjs" in " ".join(child.cmdline()):
                found.append(child.pid)
    return found
