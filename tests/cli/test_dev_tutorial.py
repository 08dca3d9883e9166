"""The tutorial, step by step as it is written, with `fx dev` running and its page open.

After each step the page shows what the text says, and nothing is reported on the way.
`tests/docs/test_examples.py` checks each step without a browser, and runs the tutorial's tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.cli.in_browser import hydrated, wait_for
from tests.docs.pages import DOCS, blocks
from tests.e2e.support import Server, Visitor, fx, served, visit

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

TUTORIAL = blocks(DOCS / "tutorial.md")
REPORTED = re.compile(r"(?m)^[✗!] .*")
NOTE_OVERLAYS = """
new MutationObserver((changes) => {
  for (const change of changes)
    for (const node of change.addedNodes)
      if (node.localName === "fx-overlay") console.error("an overlay");
}).observe(document, { childList: true, subtree: true });
"""
PROBE = """import { Link } from "fx/client";

export default function Probe() {
  return <Link href="/probe/%d">{probe%d}</Link>;
}
"""
"""A page with a finding of each check that takes its time, so that one can wait for the checks."""

PASSWORD = "correct horse battery"
Save = Callable[..., None]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    fx("init", "reading", cwd=tmp_path)
    return tmp_path / "reading"


@pytest.fixture
def visitor(browser: Browser, server: Server) -> Iterator[Visitor]:
    visitor = visit(browser)
    visitor.page.add_init_script(NOTE_OVERLAYS)
    visitor.page.goto(server.url)
    hydrated(visitor.page)
    yield visitor
    visitor.page.context.close()


@pytest.fixture
def save(project: Path, server: Server, visitor: Visitor) -> Save:
    """Save the next blocks of the tutorial, and wait until nothing was found in them."""
    remaining = [block for block in TUTORIAL if block.file]
    steps = iter(range(1, 100))

    def save_next(*files: str) -> None:
        number = next(steps)
        for file in files:
            block = remaining.pop(0)
            assert block.file == file
            path = project / file
            path.parent.mkdir(exist_ok=True)
            path.write_text(block.text, "utf-8")
        (project / "pages/probe.fxl").write_text(PROBE % (number, number), "utf-8")
        wait_for(server, f"'/probe/{number}'")
        wait_for(server, f"'probe{number}'")
        found = REPORTED.findall(server.output())
        assert [one for one in found if "pages/probe.fxl:" not in one] == []
        expected = re.compile("status of (401|422)")
        assert [one for one in visitor.complaints if not expected.search(one)] == []

    return save_next


def add_book(page: Page, title: str, pages: str) -> None:
    page.get_by_label("Title").fill(title)
    page.get_by_label("Author").fill("Jane Austen")
    page.get_by_label("Pages").fill(pages)
    page.get_by_role("button", name="Add").click()


def test_each_step_shows_what_the_text_says_and_no_error(
    browser: Browser, server: Server, project: Path, visitor: Visitor, save: Save
) -> None:
    page, main = visitor.page, visitor.page.locator("main")
    expect(page.locator("h1")).to_have_text("Notes")
    put_links(project)
    expect(page.locator("nav")).to_have_text("Books")
    save()

    save("books.py", "pages/index.fxl")
    expect(page.locator("h1")).to_have_text("To read")
    expect(page.locator("main li")).to_have_text(["Invisible Cities", "Middlemarch"])

    save("pages/books/[id].fxl")
    assert_missing(browser, f"{server.url}/books/9", "We have no such book.")
    assert_missing(browser, f"{server.url}/nowhere", "")

    save("pages/index.fxl")
    page.get_by_role("link", name="Middlemarch").click()
    expect(main).to_contain_text("By George Eliot, 880 pages.")
    expect(page).to_have_title("Middlemarch")
    page.get_by_role("link", name="Books").click()

    save("components/add-book.jsx", "pages/index.fxl")
    add_book(page, "Emma", "many")
    expect(page.get_by_role("alert")).to_contain_text("number")
    add_book(page, "Emma", "474")
    expect(page.locator("main li")).to_have_text(["Emma", "Invisible Cities", "Middlemarch"])
    without_javascript(browser, server)

    save("pages/index.fxl")
    other = visit(browser)
    other.page.goto(server.url)
    hydrated(other.page)
    add_book(other.page, "Persuasion", "249")
    expect(page.locator("main li").first).to_have_text("Persuasion")
    other.page.context.close()

    save("fx.config.json", "migrations/0001_books.sql", "books.py")
    expect(page.locator("main li")).to_have_text(["Invisible Cities", "Middlemarch"])

    save("fx.config.json", "pages/login.fxl", "pages/index.fxl")
    fx("auth", "create-user", "ada@example.org", "--password", PASSWORD, cwd=project)
    page.goto(server.url)
    hydrated(page)
    add_book(page, "Emma", "474")
    page.get_by_label("Email").fill("ada@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("h1")).to_have_text("To read")
    hydrated(page)
    add_book(page, "Emma", "474")
    expect(page.locator("main li")).to_have_text(["Emma", "Invisible Cities", "Middlemarch"])

    save("news.py", "pages/index.fxl")
    add_book(page, "Persuasion", "249")
    expect(page.locator("main li").first).to_have_text("Persuasion")
    wait_for(server, "New on the list: Persuasion")

    (project / "tests/test_notes.py").unlink()
    save("tests/test_books.py")
    (project / "pages/probe.fxl").unlink()
    into_production(browser, project)


def put_links(project: Path) -> None:
    """Let the layout link to what there will be, and delete the second page."""
    [nav] = [block.text.strip() for block in TUTORIAL if block.text.startswith("<nav>")]
    layout = project / "pages/layout.fxl"
    text, count = re.subn(r"<nav\b.*?</nav>", nav, layout.read_text("utf-8"), flags=re.DOTALL)
    assert count == 1
    layout.write_text(text, "utf-8")
    (project / "pages/about.fxl").unlink()


def assert_missing(browser: Browser, url: str, message: str) -> None:
    page = browser.new_page()
    response = page.goto(url)
    assert response is not None
    assert response.status == 404
    expect(page.locator("main")).to_contain_text(message)
    expect(page.locator("fx-overlay")).to_have_count(0)
    page.close()


def without_javascript(browser: Browser, server: Server) -> None:
    """The form works, and gives back what was typed."""
    page = browser.new_page(java_script_enabled=False)
    page.goto(server.url)
    add_book(page, "Sanditon", "few")
    expect(page.get_by_role("alert")).to_contain_text("number")
    expect(page.get_by_label("Title")).to_have_value("Sanditon")
    page.get_by_label("Pages").fill("90")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("main li").first).to_have_text("Sanditon")
    page.close()


def into_production(browser: Browser, project: Path) -> None:
    assert "fine" in fx("check", cwd=project)
    fx("build", cwd=project)
    fx("db", "up", cwd=project)
    with served(project) as server:
        page = browser.new_page()
        page.goto(server.url)
        expect(page.locator("main li").first).to_have_text("Persuasion")
        page.close()
