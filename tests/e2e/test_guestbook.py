"""The guestbook in a real browser, served over a real socket."""

from __future__ import annotations

import re
import urllib.request

from playwright.sync_api import Browser, expect

from tests.e2e.accessible import assert_accessible
from tests.e2e.support import Server, Visitor, visit

HYDRATED = """
    Object.keys(document.getElementById("fx-root"))
        .some((key) => key.startsWith("__reactContainer"))
"""


def hydrated(visitor: Visitor, url: str) -> None:
    """Open ``url`` and wait until React has taken over."""
    visitor.page.goto(url)
    visitor.page.wait_for_function(HYDRATED)


def sign(visitor: Visitor, name: str, message: str) -> None:
    visitor.page.get_by_label("Your name").fill(name)
    visitor.page.get_by_label("Your message").fill(message)
    visitor.page.get_by_role("button", name="Sign").click()


def test_the_page_is_in_the_html_before_javascript_runs(guestbook: Server) -> None:
    with urllib.request.urlopen(guestbook.url) as response:
        html = response.read().decode()
    assert "<h1>Say hello</h1>" in html
    assert "No entries yet. Be the first to sign." in html
    assert re.findall(r"<title[^>]*>([^<]*)", html) == ["Guestbook"]
    assert 'content="Sign the guestbook, and read what others wrote." name="description"' in html


def test_it_hydrates_without_a_complaint(guestbook: Server, browser: Browser) -> None:
    visitor = visit(browser)
    hydrated(visitor, guestbook.url)
    assert visitor.complaints == []


def test_the_form_shows_a_field_error_and_then_the_new_entry(
    guestbook: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    hydrated(visitor, guestbook.url)
    sign(visitor, "", "Hello from a test")
    expect(visitor.page.get_by_role("alert")).to_have_text(
        "Enter your name, in up to 40 characters."
    )
    assert_accessible(visitor.page)
    sign(visitor, "Ann <b>", "Hello from a test")
    entry = visitor.page.get_by_role("listitem").filter(has_text="Hello from a test")
    expect(entry).to_be_visible()
    expect(visitor.page.get_by_role("alert")).to_have_count(0)
    expect(visitor.page.get_by_label("Your name")).to_have_value("")
    assert [text for text in visitor.complaints if "422" not in text] == []


def test_a_link_navigates_without_a_reload_and_back_works(
    guestbook: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    hydrated(visitor, guestbook.url)
    sign(visitor, "Ann", "First!")
    visitor.page.evaluate("window.sameDocument = true")
    visitor.page.get_by_role("link", name="Ann").click()
    expect(visitor.page.get_by_role("heading", name="Ann")).to_be_visible()
    assert re.fullmatch(r".*/entries/\d+", visitor.page.url)
    expect(visitor.page).to_have_title("Ann · Guestbook")
    assert_accessible(visitor.page)
    visitor.page.go_back()
    expect(visitor.page.get_by_role("heading", name="Say hello")).to_be_visible()
    expect(visitor.page).to_have_title("Guestbook")
    visitor.page.get_by_role("link", name="About").click()
    expect(visitor.page).to_have_title("About · Guestbook")
    visitor.page.go_back()
    visitor.page.go_forward()
    expect(visitor.page.get_by_role("heading", name="About")).to_be_visible()
    assert visitor.page.evaluate("window.sameDocument") is True
    assert visitor.complaints == []


def test_errors_have_pages_of_the_application(guestbook: Server, browser: Browser) -> None:
    visitor = visit(browser)
    visitor.page.goto(guestbook.url + "/entries/999")
    expect(visitor.page.get_by_role("heading", name="Not found")).to_be_visible()
    expect(visitor.page.get_by_text("There is no entry '999'.")).to_be_visible()
    assert_accessible(visitor.page)
    response = visitor.page.goto(guestbook.url + "/no/such/page")
    assert response is not None and response.status == 404
    expect(visitor.page.get_by_role("heading", name="Not found")).to_be_visible()


def test_the_form_works_without_javascript(guestbook: Server, browser: Browser) -> None:
    visitor = visit(browser, javascript=False)
    visitor.page.goto(guestbook.url)
    sign(visitor, "", "Plain hello")
    expect(visitor.page.get_by_role("alert")).to_have_text(
        "Enter your name, in up to 40 characters."
    )
    sign(visitor, "Bob", "Plain hello")
    expect(visitor.page.get_by_role("listitem").filter(has_text="Plain hello")).to_be_visible()
    assert visitor.page.url == guestbook.url + "/"
