"""The booking board in real browsers: live, with one winner for each slot, and with uploads."""

from __future__ import annotations

import base64
import datetime
import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.accessible import assert_accessible
from tests.e2e.support import Server, Visitor, copy_example, fx, served, visit

PASSWORD = "correct horse battery staple"
IN_TWO_DAYS = datetime.date.today() + datetime.timedelta(2)
DAY = IN_TWO_DAYS.isoformat()
NAMED = rf"^Lathe, {IN_TWO_DAYS:%a} {IN_TWO_DAYS.day} \w+ at 10:00$"
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    project = copy_example("workshop", tmp_path_factory.mktemp("workshop"))
    fx("build", cwd=project)
    fx("db", "up", cwd=project)
    for name in ("ann", "bob", "eve"):
        fx("auth", "create-user", f"{name}@example.org", "--password", PASSWORD, cwd=project)
    with served(project) as server:
        yield server


def look(browser: Browser, workshop: Server, name: str, *, javascript: bool = True) -> Visitor:
    """Sign in, and look at the board of a day to come."""
    visitor = visit(browser, javascript=javascript)
    page = visitor.page
    page.goto(f"{workshop.url}/login?next=/%3Fday={DAY}")
    page.get_by_label("Email").fill(f"{name}@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"**/?day={DAY}")
    if javascript:
        expect(page.get_by_role("status")).to_have_text("live")
    return visitor


def slot(visitor: Visitor, name: str):
    return visitor.page.get_by_role("button", name=f"free, {name}:00", exact=True)


def test_what_one_books_the_other_sees_at_once(workshop: Server, browser: Browser) -> None:
    ann, bob = look(browser, workshop, "ann"), look(browser, workshop, "bob")
    slot(ann, "lathe at 10").click()
    expect(ann.page.get_by_role("timer")).to_have_text("9:59")
    expect(bob.page.get_by_role("cell", name="ann held")).to_be_visible()
    ann.page.get_by_label("What will you make?").fill("a bowl of ash")
    sketch = {"name": "bowl.png", "mimeType": "image/png", "buffer": PIXEL}
    assert_accessible(ann.page)
    assert_accessible(bob.page)
    ann.page.get_by_label("A sketch").set_input_files(sketch)  # type: ignore[arg-type]  # a dict
    ann.page.get_by_role("button", name="Book it").click()
    expect(bob.page.get_by_role("cell", name="ann booked")).to_be_visible()
    assert_accessible(ann.page)
    ann.page.get_by_role("link", name=re.compile(NAMED)).click()
    expect(ann.page.get_by_text("a bowl of ash")).to_be_visible()
    image = ann.page.get_by_alt_text("Your sketch")
    expect(image).to_have_js_property("naturalWidth", 1)
    ann.page.get_by_role("button", name="Give it back").click()
    expect(slot(bob, "lathe at 10")).to_be_visible()
    # The news of it may reach her page before the redirect: it loads a slot that is no longer hers.
    others = [one for one in ann.complaints if "404" not in one or f"lathe/{DAY}T10" not in one]
    assert others == bob.complaints == []


def test_of_two_who_take_a_slot_at_once_one_gets_it(workshop: Server, browser: Browser) -> None:
    ann, bob = look(browser, workshop, "ann"), look(browser, workshop, "bob")
    # Both buttons are looked for before either is pressed: what one takes is gone for the other.
    buttons = [slot(visitor, "laser at 11").element_handle() for visitor in (ann, bob)]
    when = time.time() * 1000 + 500
    for button in buttons:  # neither waits for the other
        button.evaluate("(it, when) => { setTimeout(() => it.click(), when - Date.now()) }", when)
    pages = (ann.page, bob.page)
    winner = next(page for page in pages * 1500 if _has_timer(page))  # a minute
    loser = pages[1 - pages.index(winner)]
    expect(loser.get_by_role("cell", name="held")).to_be_visible()
    expect(loser.get_by_role("timer")).to_have_count(0)
    winner.get_by_role("button", name="Give it back").click()


def _has_timer(page: Page) -> bool:
    page.wait_for_timeout(20)
    return page.get_by_role("timer").count() == 1


def test_it_works_without_javascript(workshop: Server, browser: Browser) -> None:
    eve = look(browser, workshop, "eve", javascript=False)
    slot(eve, "loom at 12").click()
    eve.page.get_by_label("What will you make?").fill("a scarf")
    eve.page.get_by_role("button", name="Book it").click()
    expect(eve.page.get_by_text("a scarf")).to_be_visible()
    eve.page.goto(f"{workshop.url}/slots/loom/{DAY}T13")
    expect(eve.page.get_by_role("heading", name="Nothing here")).to_be_visible()
    eve.page.goto(f"{workshop.url}/anvils")
    expect(eve.page.get_by_role("heading", name="Not found")).to_be_visible()
