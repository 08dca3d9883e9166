"""The exported documentation site in a browser: accessible, searchable, no failed request."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Response, expect

from tests.e2e.accessible import assert_accessible
from tests.e2e.support import REPOSITORY, serving_files, visit

pytestmark = pytest.mark.nightly

PAGES = ("/", "/docs/", "/docs/guides/actions/", "/docs/reference/errors/", "/docs/modules/db/")


EACH = [' data-fx-head="" src="/site.js"', ' type="speculationrules"']
"""The scripts of each page: the second one is data for the browser."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the exported site, with the index of its search."""
    out = tmp_path_factory.mktemp("site") / "out"
    command = [sys.executable, str(REPOSITORY / "docs/site/build.py"), str(out)]
    subprocess.run(command, check=True, timeout=300)
    return out


@pytest.fixture(scope="module")
def site(files: Path) -> Iterator[str]:
    """Return the URL at which the files are served."""
    with serving_files(files) as url:
        yield url


def test_pages_load_no_script_but_that_of_the_site(files: Path) -> None:
    documents = sorted(files.rglob("index.html"))
    with_others = [
        file.relative_to(files).as_posix()
        for file in documents
        if re.findall(r"<script([^>]*)>", file.read_text("utf-8")) != EACH
    ]

    assert len(documents) > 100
    assert with_others == []


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_accessible_and_no_request_fails(site: str, browser: Browser, path: str) -> None:
    tab = visit(browser).page
    failed: list[str] = []

    def note(response: Response) -> None:
        if response.status >= 400:
            failed.append(response.url)

    tab.on("response", note)
    tab.goto(site + path)
    assert_accessible(tab)

    assert failed == []


def test_the_search_finds_a_section_and_leads_to_it(site: str, browser: Browser) -> None:
    tab = visit(browser).page
    tab.goto(f"{site}/docs/")
    tab.keyboard.press("/")
    tab.get_by_label("Search the documentation").fill("rate limits")
    expect(tab.locator("dialog li a").first).to_be_visible()
    assert_accessible(tab)
    tab.keyboard.press("Enter")

    expect(tab.locator("h1")).to_be_visible()
    expect(tab).not_to_have_url(f"{site}/docs/")


def test_code_and_whole_pages_can_be_copied(site: str, browser: Browser) -> None:
    tab = visit(browser).page
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.goto(f"{site}/docs/guides/head/")
    tab.locator("main pre").first.hover()
    tab.get_by_role("button", name="Copy", exact=True).first.click()
    expect(tab.get_by_role("button", name="Copied")).to_be_visible()
    assert "HEAD = [" in tab.evaluate("navigator.clipboard.readText()")

    tab.get_by_role("button", name="Copy as Markdown").click()
    expect(tab.locator("[data-copy-page]")).to_have_text("Copied")
    assert "# Titles and other head elements" in tab.evaluate("navigator.clipboard.readText()")


def test_the_colours_that_were_chosen_stay(site: str, browser: Browser) -> None:
    tab = visit(browser).page
    tab.goto(site)
    tab.get_by_label("Colours").select_option("dark")
    tab.goto(f"{site}/docs/tutorial/")

    assert tab.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"


def test_the_menu_opens_on_a_phone_without_a_script(site: str, browser: Browser) -> None:
    page = browser.new_context(
        java_script_enabled=False, viewport={"width": 390, "height": 800}
    ).new_page()
    page.goto(f"{site}/docs/tutorial/")
    menu = page.get_by_role("navigation", name="Documentation")
    expect(menu).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    menu.get_by_role("link", name="Load data", exact=True).click()

    expect(page.locator("h1")).to_have_text("Load data")
    page.context.close()
