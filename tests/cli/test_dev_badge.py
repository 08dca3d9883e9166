"""What `fx dev` shows over a page, and what it only counts in its corner."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.in_browser import edit, hydrated, open_home
from tests.e2e.support import Server

pytestmark = pytest.mark.browser


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
