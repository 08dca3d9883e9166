"""What tests do with a project of `fx init` that `fx dev` serves."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from tests.e2e.support import Server, pause, read_text, visit


def hydrated(page: Page) -> None:
    """Wait until the page takes updates."""
    page.wait_for_function("performance.getEntriesByName('fx:ready').length > 0")


def wait_for(server: Server, text: str, count: int = 1) -> None:
    """Wait until `fx dev` has printed ``text`` so many times, and serves."""
    give_up = time.monotonic() + 60
    while server.output().count(text) < count:
        assert time.monotonic() < give_up, server.output()
        read_text(f"{server.url}/readyz")
        pause()


def wait_for_text(server: Server, text: str, path: str = "/") -> None:
    """Wait until documents of a page have ``text``, whoever serves them meanwhile."""
    give_up = time.monotonic() + 60
    while text not in read_text(f"{server.url}{path}"):
        assert time.monotonic() < give_up, server.output()
        pause()


def edit(project: Path, old: str, new: str) -> None:
    page = project / "pages/index.fxl"
    text = page.read_text(encoding="utf-8")
    assert old in text
    page.write_text(text.replace(old, new), encoding="utf-8")


def import_note(project: Path) -> None:
    """Import a component into the start page, which does not use it yet."""
    new = 'import { Note } from "../components/note.jsx";\nimport { Form }'
    edit(project, "import { Form }", new)


def place_of(project: Path, text: str) -> str:
    """Return `file:line:column` of ``text`` in the start page."""
    page = project / "pages/index.fxl"
    before = page.read_text(encoding="utf-8").partition(text)[0]
    return f"pages/index.fxl:{before.count(chr(10)) + 1}:{len(before.rpartition(chr(10))[2]) + 1}"


def open_home(browser: Browser, server: Server) -> Page:
    page = visit(browser).page
    page.goto(server.url)
    expect(page.locator("h1")).to_have_text("Notes")
    return page


class HeldLine:
    """The WebSocket of a page, on which nothing is passed on until it is released."""

    def __init__(self) -> None:
        self.held: list[str | bytes] = []
        self._socket: WebSocketRoute | None = None

    def hold(self, socket: WebSocketRoute) -> None:
        """Take what the page says, which finds the connection open; later ones are free."""
        if self._socket is not None:
            socket.connect_to_server()
            return
        self._socket = socket
        socket.on_message(lambda text: self.held.append(text))  # it marks what it is given

    def release(self) -> None:
        """Let it all through, in both directions."""
        assert self._socket is not None
        server = self._socket.connect_to_server()
        self._socket.on_message(lambda text: server.send(text))
        for text in self.held:
            server.send(text)


def wait_until(page: Page, condition: Callable[[], bool]) -> None:
    """Let events of the browser happen until something is so."""
    give_up = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < give_up
        page.evaluate("0")
