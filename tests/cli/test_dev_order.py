"""Whatever order saves, mistakes and answers come in, what is seen is what was saved last."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import APIResponse, Browser, Page, Route, WebSocketRoute, expect

from tests.cli.in_browser import edit, hydrated, import_note, open_home, wait_until
from tests.e2e.support import Server, visit

pytestmark = [pytest.mark.browser, pytest.mark.shared_dev]


class Line:
    """The WebSocket of a page: what was said on it, and what the page says of failed updates."""

    def __init__(self, page: Page) -> None:
        self.heard: list[str] = []
        self.held: list[str | bytes] = []
        self._server: WebSocketRoute | None = None
        page.route_web_socket("**/@hot", self._connect)

    def _connect(self, socket: WebSocketRoute) -> None:
        server = self._server = socket.connect_to_server()

        def say(text: str | bytes) -> None:
            if "fx:unloaded" in str(text):
                self.held.append(text)
            else:
                server.send(text)

        def hear(text: str | bytes) -> None:
            self.heard.append(str(text))
            socket.send(text)

        socket.on_message(say)
        server.on_message(hear)

    def release(self) -> None:
        """Let the server hear of what has failed."""
        assert self._server is not None
        for text in self.held:
            self._server.send(text)
        self.held.clear()

    def count(self, text: str) -> int:
        """Return how many messages to the page contain ``text``."""
        return sum(text in message for message in self.heard)


def test_a_page_that_changes_during_its_navigation_appears_in_its_new_version(
    browser: Browser, server: Server, project: Path
) -> None:
    page = visit(browser).page
    line = Line(page)
    answers: list[tuple[Route, APIResponse]] = []

    def hold_first(route: Route) -> None:
        if answers:
            route.continue_()
        else:
            answers.append((route, route.fetch()))

    page.route("**/pages/index.fxl.tsx?*", hold_first)
    page.goto(f"{server.url}/about")
    hydrated(page)

    page.get_by_role("link", name="Notes").first.click()
    wait_until(page, lambda: bool(answers))
    edit(project, "<h1>Notes</h1>", "<h1>My notes</h1>")
    wait_until(page, lambda: line.count("/pages/index.fxl.tsx") > 0)
    wait_until(page, lambda: line.count("fx:settled") > 0)
    [(route, answer)] = answers
    assert "My notes" not in answer.text()
    route.fulfill(response=answer)
    wait_until(page, lambda: bool(line.held))
    line.release()

    expect(page.locator("h1")).to_have_text("My notes")
    expect(page.locator("fx-overlay")).to_have_count(0)


def test_a_page_renders_if_its_part_is_corrected_before_the_failure_is_reported(
    browser: Browser, server: Server, project: Path
) -> None:
    part = project / "components/note.jsx"
    part.write_text("export const Note = () => <b>first</b>;\n", "utf-8")
    page = visit(browser).page
    line = Line(page)
    page.goto(server.url)
    hydrated(page)
    import_note(project)
    edit(project, "<h1>Notes</h1>", "<h1>Notes <Note /></h1>")
    expect(page.locator("h1")).to_have_text("Notes first")

    part.write_text("null.x;\nexport const Note = () => <b>wrong</b>;\n", "utf-8")
    wait_until(page, lambda: len(line.held) == 1)
    line.release()
    edit(project, "<h1>Notes ", "<h1>My notes ")
    # The part fails once more: it may have been right with the page.
    wait_until(page, lambda: any("index.fxl" in str(text) for text in line.held))
    part.write_text("export const Note = () => <b>second</b>;\n", "utf-8")
    expect(page.locator("h1 b")).to_have_text("second")
    line.release()

    expect(page.locator("h1")).to_have_text("My notes second")
    expect(page.locator("fx-overlay")).to_have_count(0)


def test_saves_at_once_of_a_page_and_of_its_part_that_fails_show_both_when_it_is_right(
    browser: Browser, server: Server, project: Path
) -> None:
    part = project / "components/note.jsx"
    part.write_text("export const Note = () => <b>0</b>;\n", "utf-8")
    page = open_home(browser, server)
    hydrated(page)
    import_note(project)
    edit(project, "<h1>Notes</h1>", "<h1>0 <Note /></h1>")
    expect(page.locator("h1")).to_have_text("0 0")

    for number in range(5):
        edit(project, f"<h1>{number} ", f"<h1>{number + 1} ")
        part.write_text("null.x;\nexport const Note = () => <b>wrong</b>;\n", "utf-8")
        expect(page.locator("fx-overlay p").first).to_contain_text("properties of null")
        part.write_text(f"export const Note = () => <b>{number + 1}</b>;\n", "utf-8")
        expect(page.locator("h1")).to_have_text(f"{number + 1} {number + 1}")
        expect(page.locator("fx-overlay")).to_have_count(0)


def test_a_lazy_part_that_throws_at_its_first_load_renders_once_it_is_corrected(
    browser: Browser, server: Server, project: Path
) -> None:
    part = project / "components/late.jsx"
    part.write_text("null.x;\nexport default () => <b>wrong</b>;\n", "utf-8")
    page = open_home(browser, server)
    hydrated(page)
    file = project / "pages/index.fxl"
    text = file.read_text("utf-8").replace(
        "import { Form", "import { lazy } from 'react';\nimport { ClientOnly, Form"
    )
    text = text.replace(
        "export default",
        "const Late = lazy(() => import('../components/late.jsx'));\n\nexport default",
    )
    markup = "<h1>Notes</h1><ClientOnly>{() => <Late />}</ClientOnly>"
    file.write_text(text.replace("<h1>Notes</h1>", markup), "utf-8")
    expect(page.locator("fx-overlay p").first).to_contain_text("properties of null")
    part.write_text("export default () => <b>right</b>;\n", "utf-8")

    expect(page.locator("b").first).to_have_text("right")
    expect(page.locator("fx-overlay")).to_have_count(0)
