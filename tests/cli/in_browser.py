"""What tests do with a project of `fx init` that `fx dev` serves."""

from __future__ import annotations

import time
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

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


def edit(project: Path, old: str, new: str) -> None:
    page = project / "pages/index.fxl"
    text = page.read_text(encoding="utf-8")
    assert old in text
    page.write_text(text.replace(old, new), encoding="utf-8")


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
