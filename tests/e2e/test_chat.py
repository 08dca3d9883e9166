"""The chat in real browsers: accounts, rooms, presence, and a reader that stops."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.accessible import assert_accessible
from tests.e2e.support import Server, Visitor, copy_example, fx, served, visit

PASSWORD = "correct horse battery staple"


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    project = copy_example("chat", tmp_path_factory.mktemp("chat"))
    fx("build", cwd=project)
    with served(project) as server:
        yield server


def enter(browser: Browser, chat: Server, email: str, room: str) -> Visitor:
    """Register, sign in, and enter a room."""
    visitor = visit(browser)
    page = visitor.page
    for form in ("register", "login"):
        page.goto(f"{chat.url}/{form}?next=/rooms/{room}")
        page.get_by_label("Email").fill(email)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Register" if form == "register" else "Sign in").click()
        page.wait_for_load_state()
    page.goto(f"{chat.url}/rooms/{room}")
    expect(page.get_by_role("status")).to_contain_text("open")
    return visitor


def members(visitor: Visitor) -> list[str]:
    return visitor.page.get_by_label("Members").get_by_role("listitem").all_inner_texts()


def test_a_room_is_closed_to_those_who_are_not_signed_in(chat: Server, browser: Browser) -> None:
    visitor = visit(browser)
    visitor.page.goto(chat.url + "/rooms/lobby")
    assert visitor.page.url.startswith(chat.url + "/login?next=")
    assert_accessible(visitor.page)


def test_what_one_says_the_other_reads_and_both_see_who_is_here(
    chat: Server, browser: Browser
) -> None:
    ann = enter(browser, chat, "ann@example.com", "lobby")
    bob = enter(browser, chat, "bob@example.com", "lobby")
    expect(ann.page.get_by_label("Members").get_by_role("listitem")).to_have_count(2)
    assert sorted(members(ann)) == ["ann", "bob"]
    ann.page.get_by_label("Your message").fill("Hello Bob")
    ann.page.get_by_role("button", name="Send").click()
    for visitor in (ann, bob):
        messages = visitor.page.get_by_label("Messages").get_by_role("listitem")
        expect(messages).to_have_text("ann Hello Bob")
    assert_accessible(ann.page)
    bob.page.context.close()
    expect(ann.page.get_by_label("Members").get_by_role("listitem")).to_have_count(1)
    assert ann.complaints == []


@pytest.mark.nightly  # 12,000 messages: the other one is cut off as well where it has no processor
def test_a_reader_that_stops_is_cut_off_and_holds_up_nobody(chat: Server, browser: Browser) -> None:
    eve = enter(browser, chat, "eve@example.com", "garden")
    dan = enter(browser, chat, "dan@example.com", "garden")
    eve.page.get_by_text("Demo: a client that stops reading").click()
    eve.page.get_by_role("button", name="Stop reading").click(no_wait_after=True)
    expect(dan.page.get_by_role("status")).to_contain_text("12000 messages received")
    assert "closed" not in dan.page.get_by_role("status").inner_text()
    expect(eve.page.get_by_role("status")).to_contain_text("closed with 1013")
    expect(eve.page.get_by_role("status")).to_contain_text("open")
    expect(dan.page.get_by_label("Members").get_by_role("listitem")).to_have_count(2)
