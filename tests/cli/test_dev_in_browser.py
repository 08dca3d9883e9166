"""`fx dev` with a fresh project and a real browser: what is saved is what is seen."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.support import Server, free_port, fx, serving, visit

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    expect.set_options(timeout=60_000)  # the machine may be busy
    yield
    expect.set_options(timeout=5_000)  # Playwright's own


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


def hydrated(page: Page) -> None:
    """Wait until the page takes updates."""
    page.wait_for_function("performance.getEntriesByName('fx:ready').length > 0")


def wait_for(server: Server, text: str, count: int = 1) -> None:
    """Wait until `fx dev` has printed ``text`` so many times, and serves."""
    give_up = time.monotonic() + 60
    while server.output().count(text) < count:
        assert time.monotonic() < give_up, server.output()
        httpx.get(f"{server.url}/readyz")


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


def test_the_page_keeps_its_state_while_both_halves_change(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    hydrated(page)
    page.get_by_label("New note").fill("half a thought")
    page.evaluate("window.marker = 1")

    edit(project, "<h1>Notes</h1>", "<h1>My notes</h1>")
    expect(page.locator("h1")).to_have_text("My notes")
    edit(project, "A page is one file", "A page is swapped")
    expect(page.get_by_text("A page is swapped")).to_be_visible()
    styles = project / "pages/styles.css"
    styles.write_text(f"{styles.read_text()}\nh1 {{ color: rgb(1, 2, 3) }}\n")
    expect(page.locator("h1")).to_have_css("color", "rgb(1, 2, 3)")
    app = project / "app.py"
    app.write_text(f"{app.read_text()}\nSWITCH = 1\n")
    wait_for(server, "restarting the server process: app: the app is made there")
    edit(project, "A page is swapped", "A page is served again")
    expect(page.get_by_text("A page is served again")).to_be_visible()

    expect(page.get_by_label("New note")).to_have_value("half a thought")
    assert page.evaluate("window.marker") == 1  # the document has never been loaded anew
    fresh = httpx.get(server.url).text
    assert "<h1>My notes</h1>" in fresh
    assert "A page is served again" in fresh
    assert "rgb(1, 2, 3)" in fresh


def test_a_mistake_is_shown_until_it_is_put_right(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    hydrated(page)
    overlay = page.locator("fx-overlay")

    edit(project, "@server\nasync def", "@server\ndef")
    expect(overlay.get_by_role("link")).to_have_text(f"{project}/pages/index.fxl:18:5")
    expect(page.locator("h1")).to_have_text("Notes")  # what was right before is served
    edit(project, "@server\ndef", "@server\nasync def")
    expect(overlay).to_have_count(0)

    edit(project, "<h1>Notes</h1>", "<h1>Notes<h1>")
    expect(overlay.locator("pre")).to_contain_text("<h1>Notes<h1>")
    edit(project, "<h1>Notes<h1>", "<h1>Notes again</h1>")
    expect(page.locator("h1")).to_have_text("Notes again")
    expect(overlay).to_have_count(0)


def test_an_error_on_import_is_shown_from_the_page_file_on(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    hydrated(page)
    overlay = page.locator("fx-overlay")

    edit(project, "NOTES = []", "NOTES = 1 / 0")

    expect(overlay.locator("p")).to_have_text("ZeroDivisionError: division by zero")
    shown = overlay.locator("pre").inner_text().splitlines()
    assert shown[1].strip().startswith(f'File "{project}/pages/index.fxl", line ')
    edit(project, "NOTES = 1 / 0", "NOTES = []")
    expect(overlay).to_have_count(0)


def test_what_fails_while_it_runs_is_shown_with_its_place(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    hydrated(page)
    overlay = page.locator("fx-overlay")

    edit(project, "<h1>Notes</h1>", "<h1>{data.nothing.here}</h1>")
    expect(overlay.get_by_role("link")).to_have_text(f"{project}/pages/index.fxl:61:25")
    expect(overlay.locator("pre")).to_contain_text("<h1>{data.nothing.here}</h1>")
    edit(project, "<h1>{data.nothing.here}</h1>", "<h1>Notes</h1>")
    expect(overlay).to_have_count(0)

    edit(project, '{"notes": NOTES}', '{"notes": NOTES[99]}')
    expect(overlay.locator("p")).to_have_text("list index out of range")
    expect(overlay.locator("pre")).to_contain_text("request ")
    edit(project, '{"notes": NOTES[99]}', '{"notes": NOTES}')
    expect(overlay).to_have_count(0)

    edit(project, "    text = str(body", '    raise KeyError("boom")\n    text = str(body')
    wait_for(server, "updated in", 5)
    page.get_by_role("button", name="Add").click()
    expect(overlay.locator("p")).to_have_text("KeyError: 'boom'")


def test_pages_come_and_go_without_a_restart(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    page.goto(f"{server.url}/new")
    expect(page.locator("h1")).to_have_text("Not found")
    hydrated(page)
    file = project / "pages/new.fxl"

    for text in ("One", "Two"):
        file.write_text(f"export default () => <h1>{text}</h1>;\n")
        expect(page.locator("h1")).to_have_text(text)
        file.unlink()
        expect(page.locator("h1")).to_have_text("Not found")

    assert server.output().count("started in") == 1


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
