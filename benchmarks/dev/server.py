"""A development server that runs, and the browser that shows its page."""

from __future__ import annotations

import os
import queue
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic, time

import attrs
from playwright.sync_api import Browser, Error, Page

from benchmarks import processes
from benchmarks.dev.model import DevServer
from tests.ports import free_port

LONGEST = 60.0
"""Seconds for what takes some milliseconds: then something is broken."""

LIVE = "performance.getEntriesByName('bench:live').length > 0"
"""Whether the page of a project reacts: its first effect has run."""

_PAINTED = "performance.getEntriesByName('first-contentful-paint').length > 0"
_TIMES = """() => ['first-contentful-paint', 'bench:live'].map((name) =>
  performance.timeOrigin + performance.getEntriesByName(name)[0].startTime)"""

_WATCH = """(longest) => ({ reached: new Promise((resolve, reject) => {
  setTimeout(() => reject(new Error(`not within ${longest} ms`)), longest);
  const look = () => {
    if (!(CHECK)) return requestAnimationFrame(look);
    resolve(performance.timeOrigin + performance.now());  // this frame paints it
  };
  look();
}) })"""


@attrs.frozen
class Running:
    """A server that has asked people to open the browser."""

    url: str
    process: subprocess.Popen[str]
    began: float
    """When the command was given (seconds since the epoch)."""

    lines: deque[str]
    """The last that it has printed."""

    def cpu(self) -> float:
        """Return the CPU time of all its processes so far, also of those that have ended (s)."""
        family = [one.cpu_times() for one in processes.tree(self.process.pid)]
        return sum(sum(times[:4]) for times in family)  # own and ended children's, user and system


@contextmanager
def running(server: DevServer) -> Iterator[Running]:
    """Run a server for as long as the block lasts."""
    port = free_port()
    command = server.command(port)
    # Whoever installs packages has their bytecode.
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time()
    process = subprocess.Popen(
        command.argv,
        cwd=command.folder,
        env={**plain, **command.env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines: deque[str] = deque(maxlen=60)
    announced: queue.Queue[bool] = queue.Queue()
    reader = threading.Thread(target=_read, args=(process, server, lines, announced), daemon=True)
    reader.start()
    try:
        try:
            started = announced.get(timeout=LONGEST)
        except queue.Empty:
            started = False
        if not started:
            raise RuntimeError(f"{server.name} does not start:\n{''.join(lines)}")
        yield Running(f"http://127.0.0.1:{port}", process, began, lines)
    finally:
        processes.end(process, patience=20)
        reader.join(10)


def _read(
    process: subprocess.Popen[str],
    server: DevServer,
    lines: deque[str],
    announced: queue.Queue[bool],
) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)
        if server.announces.search(line):
            announced.put(True)
    announced.put(False)


@contextmanager
def window(browser: Browser) -> Iterator[Page]:
    """Open a window that knows nothing yet. People have one before they start a server."""
    context = browser.new_context()
    context.set_default_timeout(LONGEST * 1000)
    try:
        yield context.new_page()
    finally:
        context.close()


def show(page: Page, server: DevServer, run: Running) -> None:
    """Show the page that is edited, until it reacts."""
    page.goto(f"{run.url}{server.path}", wait_until="commit")
    watch(page, LIVE)()


def watch(page: Page, check: str, longest: float = LONGEST) -> Callable[[], float]:
    """Look from now on at each frame whether the expression ``check`` holds.

    Return what waits until it does, and returns when that was (ms since the epoch); the document
    may be loaded anew meanwhile. It raises Error after ``longest`` seconds.
    """
    # The code has the expression in it: a text that is evaluated in the page, as
    # `wait_for_function` does at each frame, is reported to a server that has a policy for scripts.
    code = _WATCH.replace("CHECK", check)
    seen = page.evaluate_handle(code, longest * 1000)
    give_up = monotonic() + longest

    def wait() -> float:
        document = seen
        while True:
            try:
                reached: float = document.evaluate("(box) => box.reached")
                return reached
            except Error as error:
                if "Execution context was destroyed" not in str(error) or monotonic() > give_up:
                    raise
            with suppress(Error):  # this one may be left, too
                document = page.evaluate_handle(code, longest * 1000)

    return wait


def first_page(browser: Browser, server: DevServer) -> tuple[float, float]:
    """Start a server; return the time until its page is painted, and until it reacts (ms)."""
    with window(browser) as page, running(server) as run:
        show(page, server, run)
        watch(page, _PAINTED)()
        painted, live = page.evaluate(_TIMES)
        began = run.began * 1000
        return painted - began, live - began
