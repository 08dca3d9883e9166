"""The exported documentation site in a browser: accessible, searchable, no failed request."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest
from playwright.sync_api import Browser, expect

from fxtrio import __version__
from tests.e2e.accessible import assert_accessible
from tests.e2e.budgets import LARGEST, assert_light, zipped
from tests.e2e.support import REPOSITORY, serving_files, visit

pytestmark = pytest.mark.nightly

PAGES = (
    *("/", "/docs/", "/docs/guides/actions/", "/docs/reference/errors/", "/docs/modules/db/"),
    *("/docs/security/access-control/", "/docs/examples/", "/docs/compare/", "/docs/guides/types/"),
)
OWN = ".".join(__version__.split(".")[:2])
EACH = [' data-fx-head=""', ' type="speculationrules"']
"""The scripts of each page: a short one in it, and data for the browser."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the exported site, with the index of its search."""
    out = tmp_path_factory.mktemp("site") / "out"
    command = [sys.executable, str(REPOSITORY / "docs/site/build.py"), str(out)]
    options = ("--versions", f"{OWN},0.0", "--examples", "guestbook=https://guestbook.example.com")
    subprocess.run([*command, *options], check=True, timeout=300)
    return out


@pytest.fixture(scope="module")
def site(files: Path) -> Iterator[str]:
    """Return the URL at which the files are served."""
    with serving_files(files) as url:
        yield url


def test_pages_have_no_script_but_a_short_one(files: Path) -> None:
    documents = sorted(files.rglob("index.html"))
    with_others = [
        file.relative_to(files).as_posix()
        for file in documents
        if re.findall(r"<script([^>]*)>", file.read_text("utf-8")) != EACH
    ]

    assert len(documents) > 100
    assert with_others == []


def test_pages_are_small(files: Path) -> None:
    sizes = {file: zipped(file.read_bytes()) for file in sorted(files.rglob("index.html"))}

    assert median(sizes.values()) < 4000
    assert [file for file, size in sizes.items() if size > LARGEST] == []


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_accessible_and_no_request_fails(site: str, browser: Browser, path: str) -> None:
    assert_light(browser, site + path)


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
    expect(tab.locator("[data-use=copyPage]")).to_have_text("Copied")
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
    expect(menu.get_by_role("link", name="Examples", exact=True)).to_be_visible()
    menu.get_by_role("link", name="Pages", exact=True).click()

    expect(page.locator("h1")).to_have_text("Load data")
    page.context.close()


def test_versions_and_examples_are_links(site: str, files: Path, browser: Browser) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{site}/docs/examples/")
    page.locator(".versions summary").click()
    other = page.get_by_role("link", name="0.0", exact=True)
    expect(other).to_have_attribute("href", "http://127.0.0.1:8000/0.0/")
    live = page.get_by_role("link", name="Use it live")
    expect(live).to_have_count(1)
    expect(live).to_have_attribute("href", "https://guestbook.example.com")
    page.context.close()

    listed = json.loads((files / "versions.json").read_text())
    assert [version["name"] for version in listed] == [OWN, "0.0"]


def test_tabs_are_used_with_the_keyboard_and_without_a_script(
    site: str, files: Path, browser: Browser
) -> None:
    guide = files / "docs/guides/types"
    [folder] = [
        file.parent for file in guide.rglob("index.html") if 'class="tabs"' in file.read_text()
    ]
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{site}/{folder.relative_to(files).as_posix()}/")
    tabs = page.locator(".tabs")
    expect(tabs.locator("pre:visible")).to_have_count(1)
    expect(tabs.locator("pre:visible")).to_contain_text("save(title: string)")
    tabs.get_by_text("JavaScript", exact=True).focus()
    page.keyboard.press("Enter")
    expect(tabs.locator("pre:visible")).to_have_count(1)
    expect(tabs.locator("pre:visible")).to_contain_text("save(title)")
    tops = tabs.locator("summary").evaluate_all("all => all.map((one) => one.offsetTop)")
    assert len(set(tops)) == 1
    page.context.close()
