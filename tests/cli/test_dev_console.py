"""What the server logs of a page's own requests can be read in the browser's console."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.cli.in_browser import edit, hydrated, wait_for
from tests.e2e.support import Server, fx, served, visit

pytestmark = pytest.mark.browser

LOGGING = """import logging

log = logging.getLogger("shop.notes")


def note("""


@pytest.fixture
def settings() -> str:
    """Return the settings of the project that `server` serves."""
    return '{"name": "shop", "dev": {"console": true}}'


def noisy(project: Path) -> None:
    """Let the loader and the action of the start page log something."""
    page = project / "pages/index.fxl"
    text = page.read_text("utf-8")
    for old, new in (
        ("def note(", LOGGING),
        ('    return {"notes"', '    log.warning("loading %d", 1)\n    return {"notes"'),
        ("    body = await", '    log.error("adding %d", 2)\n    body = await'),
    ):
        assert old in text
        text = text.replace(old, new)
    page.write_text(text, "utf-8")


def printed(page: Page) -> list[str]:
    """Return a list that the lines of the server in the console of a page are added to."""
    lines: list[str] = []

    def note(message: object) -> None:
        kind, text = getattr(message, "type", ""), getattr(message, "text", "")
        if "[server]" in text and "content security policy" not in text:
            lines.append(f"{kind}: {text}")

    page.on("console", note)
    return lines


def add_note(page: Page) -> None:
    page.get_by_label("New note").fill("hello")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("hello")).to_be_visible()


def test_lines_of_the_pages_own_requests_are_printed(
    browser: Browser, project: Path, server: Server
) -> None:
    noisy(project)
    wait_for(server, "updated in")
    page = visit(browser).page
    lines = printed(page)

    page.goto(server.url)
    hydrated(page)
    httpx.get(server.url)  # somebody else's
    add_note(page)
    while len(lines) < 3:
        page.wait_for_event("console")

    loading = "warning: [server] shop.notes: loading 1"
    assert sorted(lines) == ["error: [server] shop.notes: adding 2", loading, loading]
    assert server.output().count("loading 1") == 3


@pytest.mark.shared_dev
@pytest.mark.parametrize("settings", [""])
def test_without_the_setting_nothing_is_printed(
    browser: Browser, project: Path, server: Server
) -> None:
    noisy(project)
    wait_for(server, "updated in")
    page = visit(browser).page
    lines = printed(page)

    page.goto(server.url)
    hydrated(page)
    add_note(page)
    edit(project, '"loading %d", 1', '"loading %d", NOTES[99]')
    expect(page.locator("fx-overlay")).to_have_count(1)  # the log has come

    assert lines == []


def test_nothing_of_it_is_served_in_production(browser: Browser, project: Path) -> None:
    (project / "fx.config.json").write_text('{"name": "shop", "dev": {"console": true}}')
    noisy(project)
    fx("build", cwd=project)
    with served(project) as server:
        page = visit(browser).page
        lines, loaded, sockets = printed(page), list[str](), list[str]()
        page.on("response", lambda answer: loaded.append(answer.text()))
        page.on("websocket", lambda socket: sockets.append(socket.url))
        page.goto(server.url)
        add_note(page)

        assert "loading 1" in server.output()
        assert (lines, sockets) == ([], [])
        assert not any("fx:own" in text or "fx-overlay" in text for text in loaded)
        assert "server-timing" not in httpx.get(server.url).headers
