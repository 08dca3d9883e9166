"""The notes: a background job seen in the browser, and pages as Markdown for agents."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.accessible import assert_accessible
from tests.e2e.support import Server, copy_example, fx, served, visit


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    project = copy_example("notes", tmp_path_factory.mktemp("notes"))
    fx("build", cwd=project)
    with served(project) as server:
        yield server


def test_a_job_goes_on_after_the_answer_and_the_page_shows_its_result(
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
