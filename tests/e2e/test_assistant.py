"""The assistant: an answer that grows, is stopped, is tried again, and is there after a reload."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.accessible import assert_accessible
from tests.e2e.support import Server, copy_example, fx, served, visit
from tests.e2e.test_guestbook import hydrated


@pytest.fixture(scope="module")
def assistant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    project = copy_example("assistant", tmp_path_factory.mktemp("assistant"))
    fx("build", cwd=project)
    fx("db", "up", cwd=project)
    with served(project) as server:
        yield server


def test_an_answer_grows_stops_and_is_stored(assistant: Server, browser: Browser) -> None:
    visitor = visit(browser)
    page = visitor.page
    hydrated(visitor, assistant.url)
    assert_accessible(page)
    messages = page.get_by_label("Messages").get_by_role("listitem")
    stop, again = (page.get_by_role("button", name=name) for name in ("Stop", "Try again"))

    page.get_by_label("Your question").fill("What is a stream?")
    page.get_by_role("button", name="Ask").click()
    answer = messages.nth(1)
    expect(answer).to_contain_text("You asked")
    expect(messages.nth(0)).to_have_text("What is a stream?")
    assert "model.py" not in answer.inner_text()
    stop.click()
    expect(again).to_be_enabled()
    text = answer.inner_text()
    page.reload()
    expect(messages).to_have_count(2)
    assert messages.nth(1).inner_text().startswith(text[:-20])

    hydrated(visitor, assistant.url)
    again.click()
    expect(messages.nth(1)).to_have_text(re.compile(r"change model\.py\. ?$"))
    expect(again).to_be_enabled()
    expect(messages).to_have_count(2)
    assert_accessible(page)
    assert visitor.complaints == []


def test_each_browser_has_its_own_chat(assistant: Server, browser: Browser) -> None:
    visitor = visit(browser)
    hydrated(visitor, assistant.url)
    expect(visitor.page.get_by_label("Messages").get_by_role("listitem")).to_have_count(0)
    expect(visitor.page.get_by_role("button", name="Try again")).to_be_disabled()
    visitor.page.get_by_role("button", name="Ask").click()
    expect(visitor.page.get_by_role("alert")).to_have_text("Write a question.")
