"""A development server that runs, and the browser that shows its page."""

from __future__ import annotations

import os
import queue
import subprocess
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from time import time

import attrs
from playwright.sync_api import Browser, Page

from benchmarks import processes
from benchmarks.dev.model import DevServer
from tests.ports import free_port

LONGEST = 60.0
"""Seconds for what takes some milliseconds: then something is broken."""

LIVE = "performance.getEntriesByName('bench:live').length > 0"
"""Whether the page of a project reacts: its first effect has run."""

_PAINTED = """() => {
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  const live = performance.getEntriesByName('bench:live')[0];
  return paint && [paint, live].map((entry) => performance.timeOrigin + entry.startTime);
}"""


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
    page.wait_for_function(LIVE)


def first_page(browser: Browser, server: DevServer) -> tuple[float, float]:
    """Start a server; return the time until its page is painted, and until it reacts (ms)."""
    with window(browser) as page, running(server) as run:
        show(page, server, run)
        painted, live = page.wait_for_function(_PAINTED).json_value()
        began = run.began * 1000
        return painted - began, live - began
