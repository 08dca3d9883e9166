"""What `fx dev` shows over a page, and what it only counts in its corner."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.in_browser import edit, hydrated, open_home
from tests.e2e.support import Server, visit
from tests.trees import write_tree

pytestmark = [pytest.mark.browser, pytest.mark.shared_dev]

WORD = "export const Word = () => <b>a word</b>;\n"


def test_findings_and_mistakes_of_other_pages_are_counted_and_cover_nothing(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    hydrated(page)
    overlay, badge = page.locator("fx-overlay"), page.locator("fx-badge button")

    edit(project, "<h1>Notes</h1>", "<h1>Notes</h1><Link href='/not/there'>x</Link>")
    edit(project, "import { Form }", "import { Form, Link }")
    expect(badge).to_have_text("1 problem")  # of the types
    about = project / "pages/about.fxl"
    right = about.read_text("utf-8")
    about.write_text(right.replace("</h1>", "<h1>", 1), "utf-8")
    expect(badge).to_have_text("2 problems")
    expect(overlay).to_have_count(0)
    badge.click()
    expect(overlay).to_contain_text("/not/there")
    expect(overlay).to_contain_text("<h1> is never closed")
    page.keyboard.press("Escape")
    expect(badge).to_have_text("2 problems")

    page.get_by_role("link", name="About").click()
    expect(overlay).to_contain_text("<h1> is never closed")  # that is this page
    expect(overlay).not_to_contain_text("/not/there")
    about.write_text(right, "utf-8")
    expect(overlay).to_have_count(0)
    expect(badge).to_have_text("1 problem")
    page.context.close()


def test_a_module_that_fails_covers_the_pages_whose_new_code_waits_for_it(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    hydrated(page)
    page.get_by_role("link", name="About").click()
    overlay, badge = page.locator("fx-overlay"), page.locator("fx-badge button")

    edit(project, "NOTES = []", "NOTES = 1 / 0")
    expect(badge).to_have_text("1 problem")  # the page that is shown works
    expect(overlay).to_have_count(0)
    about = project / "pages/about.fxl"
    about.write_text("COUNT = 2\n" + about.read_text("utf-8"), "utf-8")
    expect(overlay).to_contain_text("The new code cannot be imported")
    edit(project, "NOTES = 1 / 0", "NOTES = []")
    expect(overlay).to_have_count(0)
    expect(badge).to_have_count(0)
    page.context.close()


@pytest.mark.parametrize("settings", ['{"dev": {"overlay": false}}'])
def test_nothing_covers_a_page_when_the_settings_say_so(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    hydrated(page)
    edit(project, "<h1>Notes</h1>", "<h1>Notes<h1>")
    badge = page.locator("fx-badge button")
    expect(badge).to_have_text("1 problem")
    expect(page.locator("fx-overlay")).to_have_count(0)
    badge.click()
    expect(page.locator("fx-overlay")).to_contain_text("<h1> is never closed")
    page.context.close()


def test_a_broken_module_covers_the_pages_that_import_it(
    browser: Browser, server: Server, project: Path
) -> None:
    """Through another module; one that does not parse, imports nothing, or is a stylesheet."""
    write_tree(
        project,
        {
            "components/word.jsx": 'import "./word.css";\n' + WORD,
            "components/word.css": "b { color: red; }\n",
            "components/box.jsx": 'export { Word } from "./word.jsx";\n',
            "pages/uses.fxl": 'import { Word } from "../components/box.jsx";\n\n'
            "export default function Uses() {\n  return <h1><Word /></h1>;\n}\n",
        },
    )
    using = visit(browser).page
    using.goto(f"{server.url}/uses")
    expect(using.locator("h1")).to_have_text("a word")
    other = open_home(browser, server)
    for page in (using, other):
        hydrated(page)

    broken = {
        "components/word.jsx": "export const Word = () => <b>;\n",
        "components/word.css": '@import "./none.css";\n',
        "components/box.jsx": 'export { Word } from "./none.jsx";\n',
    }
    for name, text in broken.items():
        right = (project / name).read_text("utf-8")
        (project / name).write_text(text, "utf-8")
        expect(using.locator("fx-overlay")).to_contain_text(Path(name).name)
        expect(other.locator("fx-badge button")).to_have_text("1 problem")
        expect(other.locator("fx-overlay")).to_have_count(0)
        (project / name).write_text(right, "utf-8")
        for page in (using, other):
            expect(page.locator("fx-overlay")).to_have_count(0)
            expect(page.locator("fx-badge")).to_have_count(0)
    expect(using.locator("h1")).to_have_text("a word")
    for page in (using, other):
        page.context.close()


def test_a_python_module_that_fails_covers_the_pages_that_use_it(
    browser: Browser, server: Server, project: Path
) -> None:
    write_tree(
        project,
        {
            "words.py": "WORD = 'a word'\n",
            "pages/uses.fxl": "from words import WORD\n\n\n@server\nasync def load(request):\n"
            "    return {'word': WORD}\n\n\n"
            "export default function Uses({ data }) {\n  return <h1>{data.word}</h1>;\n}\n",
        },
    )
    using = visit(browser).page
    using.goto(f"{server.url}/uses")
    expect(using.locator("h1")).to_have_text("a word")
    other = open_home(browser, server)
    for page in (using, other):
        hydrated(page)

    (project / "words.py").write_text("WORD = 1 / 0\n", "utf-8")
    expect(using.locator("fx-overlay")).to_contain_text("words.py")
    expect(other.locator("fx-badge button")).to_have_text("1 problem")
    expect(other.locator("fx-overlay")).to_have_count(0)
    (project / "words.py").write_text("WORD = 'another word'\n", "utf-8")
    expect(using.locator("h1")).to_have_text("another word")
    for page in (using, other):
        expect(page.locator("fx-overlay")).to_have_count(0)
        page.context.close()
