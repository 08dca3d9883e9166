"""`fx dev` with a fresh project and a real browser: what is saved is what is seen."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.support import Server, free_port, fx, open_browser, serving, visit

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def project(tmp_path: Path) -> Path:
    fx("init", "shop", cwd=tmp_path)
    return tmp_path / "shop"


@pytest.fixture
def server(project: Path) -> Iterator[Server]:
    port = free_port()
    command = [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)]
    with serving(command, project, port) as running:
        yield running


def edit(project: Path, old: str, new: str) -> None:
    page = project / "pages/index.fxl"
    text = page.read_text(encoding="utf-8")
    assert old in text
    page.write_text(text.replace(old, new), encoding="utf-8")


def open_home(browser: Browser, server: Server) -> Page:
    page = visit(browser).page
    page.set_default_timeout(60_000)
    page.goto(server.url)
    expect(page.locator("h1")).to_have_text("Notes")
    return page


def test_a_saved_file_is_seen_without_a_reload_by_hand(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)

    edit(project, "<h1>Notes</h1>", "<h1>My notes</h1>")

    expect(page.locator("h1")).to_have_text("My notes", timeout=60_000)


def test_a_mistake_is_shown_until_it_is_put_right(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)

    edit(project, "@server\nasync def", "@server\ndef")
    expect(page.locator("h1")).to_have_text("The build has failed", timeout=60_000)
    expect(page.locator("pre")).to_contain_text("pages/index.fxl:18:")
    edit(project, "@server\ndef", "@server\nasync def")

    expect(page.locator("h1")).to_have_text("Notes", timeout=60_000)


def test_an_error_on_import_is_shown_from_the_page_file_on(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)

    edit(project, "NOTES = []", "NOTES = 1 / 0")

    expect(page.locator("h1")).to_have_text("The app has stopped", timeout=60_000)
    shown = page.locator("pre").inner_text().splitlines()
    assert shown[1].strip().startswith(f'File "{project}/pages/index.fxl", line ')
    assert "ZeroDivisionError: division by zero" in shown


def test_the_starter_works_without_complaints_of_the_browser(
    browser: Browser, server: Server
) -> None:
    visitor = visit(browser)
    page = visitor.page
    page.goto(server.url)

    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("alert")).to_have_text("Write something first.")
    page.get_by_label("New note").fill("hello there")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("hello there")).to_be_visible()
    page.get_by_role("link", name="About").click()
    expect(page.locator("h1")).to_have_text("About")
    expect(page).to_have_title("About · shop")

    # Browsers report the answer to the empty note, a 422, whatever a page makes of it.
    refused = "error: Failed to load resource: the server responded with a status of 422"
    assert [text for text in visitor.complaints if not text.startswith(refused)] == []


def test_ctrl_c_leaves_no_process(server: Server) -> None:
    started = psutil.Process(server.process.pid).children(recursive=True)
    assert started

    server.process.send_signal(signal.SIGINT)

    assert server.process.wait(30) == 0
    assert [process for process in started if process.is_running()] == []
