"""The notes: a background job seen in the browser, and pages as Markdown for agents."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.accessible import assert_accessible
from tests.e2e.support import Server, copy_example, fx, served, visit
from tests.e2e.test_guestbook import hydrated


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    project = copy_example("notes", tmp_path_factory.mktemp("notes"))
    fx("build", cwd=project)
    with served(project) as server:
        yield server


def test_a_job_runs_after_the_answer_and_the_page_shows_its_result(
    notes: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    visitor.page.goto(notes.url)
    assert_accessible(visitor.page)
    visitor.page.get_by_label("Title").fill("Shopping")
    visitor.page.get_by_label("Text").fill("milk and a lot of bread")
    visitor.page.get_by_role("button", name="Write").click()
    visitor.page.get_by_role("link", name="Shopping").click()
    expect(visitor.page.get_by_role("heading", name="Shopping")).to_be_visible()
    expect(visitor.page.get_by_role("status")).to_have_text("6 words")
    assert_accessible(visitor.page)
    assert visitor.complaints == []


def test_the_keyboard_keeps_its_place_in_a_form(notes: Server, browser: Browser) -> None:
    visitor = visit(browser)
    page = visitor.page
    hydrated(visitor, notes.url)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    title, write = page.get_by_label("Title"), page.get_by_role("button", name="Write")
    for field in (title, page.get_by_label("Text"), write):
        page.keyboard.press("Tab")
        expect(field).to_be_focused()

    page.keyboard.press("Enter")
    expect(title).to_be_focused()
    expect(title).to_have_attribute("aria-invalid", "true")
    expect(title).to_have_accessible_description("A note needs a title.")
    assert_accessible(page)

    page.keyboard.type("By hand")
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.get_by_role("link", name="By hand")).to_be_visible()
    expect(write).to_be_focused()
    expect(title).not_to_have_attribute("aria-invalid", "true")
    assert [text for text in visitor.complaints if "422" not in text] == []


def test_agents_read_pages_as_markdown(notes: Server) -> None:
    with httpx.Client(base_url=notes.url) as client:
        hook = client.get("/notes/1.md")
        converted = client.get("/about-agents.md")
        negotiated = client.get("/", headers={"accept": "text/markdown"})
        listing = client.get("/llms.txt")
        page = client.get("/")
    assert hook.headers["content-type"] == "text/markdown; charset=utf-8"
    assert hook.text.startswith("# Welcome\n")
    assert hook.text.endswith("---\nFrom Notes, /notes/1\n")
    assert re.search(r"\| /\s+\| /index\.md \|", converted.text)
    assert negotiated.text.startswith("# Notes\n")
    assert "- Home: /index.md" in listing.text
    assert page.headers["link"] == '</llms.txt>; rel="llms-txt"'
