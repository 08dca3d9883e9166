"""What pages of a new project load, and what they do not load before it is needed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.weight.__main__ import too_heavy, weigh
from benchmarks.weight.sites import Site, starter_site
from tests.e2e.support import visit
from tests.e2e.test_guestbook import HYDRATED

LOADED = """
    performance.getEntriesByType("resource").some(({ name }) => name.includes("/visits-"))
"""
"""The code of navigations is there."""


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return starter_site(tmp_path_factory.mktemp("weight") / "starter")


@pytest.fixture(scope="module")
def url(starter: Site) -> Iterator[str]:
    with starter.serve() as url:
        yield url


@pytest.fixture
def tab(browser: Browser, url: str) -> Iterator[Page]:
    page = visit(browser).page
    page.goto(url, wait_until="networkidle")
    page.wait_for_function(HYDRATED)
    page.evaluate("window.first = true")
    yield page
    page.context.close()


def test_pages_of_a_new_project_are_within_their_limits(
    starter: Site, url: str, browser: Browser
) -> None:
    loads = list(weigh(browser, starter, url))

    assert [load.page for load in loads] == ["starter /about", "starter /"]
    assert [line for load in loads for line in too_heavy(load)] == []
    assert loads[0].script == 0


def test_the_code_of_navigations_comes_with_the_first_sign_of_one(tab: Page) -> None:
    requested: list[str] = []
    tab.on("request", lambda request: requested.append(request.url))
    tab.get_by_role("link", name="About").hover()
    tab.wait_for_function(LOADED)
    tab.get_by_role("link", name="About").click()

    expect(tab.get_by_role("heading")).to_have_text("About")
    expect(tab).to_have_title("About · starter")
    assert len([each for each in requested if "/visits-" in each]) == 1
    assert tab.evaluate("window.first"), "no other document was loaded"


def test_a_form_brings_it_before_it_is_sent(tab: Page) -> None:
    tab.get_by_label("New note").focus()
    tab.wait_for_function(LOADED)
    tab.get_by_label("New note").fill("Weighs nothing")
    tab.keyboard.press("Enter")

    expect(tab.get_by_role("listitem")).to_contain_text("Weighs nothing")
    assert tab.evaluate("window.first"), "no other document was loaded"


def test_the_way_back_works_before_it_is_there(tab: Page) -> None:
    tab.get_by_role("link", name="About").click()
    expect(tab.get_by_role("heading")).to_have_text("About")
    tab.go_back()
    expect(tab.get_by_role("heading")).to_have_text("Notes")
    tab.reload(wait_until="networkidle")
    tab.wait_for_function(HYDRATED)
    tab.evaluate("window.first = true")
    tab.go_forward()

    expect(tab.get_by_role("heading")).to_have_text("About")
    expect(tab).to_have_title("About · starter")
    assert tab.evaluate("window.first"), "no other document was loaded"


def test_without_it_links_lead_to_documents(tab: Page) -> None:
    tab.route("**/visits-*.js", lambda route: route.abort())
    tab.get_by_role("link", name="About").click()

    expect(tab.get_by_role("heading")).to_have_text("About")
    expect(tab).to_have_title("About · starter")
    assert not tab.evaluate("window.first")


def test_without_it_moves_within_the_page_keep_what_was_typed(tab: Page) -> None:
    tab.route("**/visits-*.js", lambda route: route.fulfill(status=404))
    tab.evaluate("""() => {
        document.body.insertAdjacentHTML("afterbegin", '<a href="#two">Two</a>');
        const place = '<p id="two" style="margin: 3000px 0">Here</p>';
        document.body.insertAdjacentHTML("beforeend", place);
    }""")
    tab.get_by_label("New note").fill("Typed")
    tab.get_by_role("link", name="Two").click()
    expect(tab.get_by_text("Here", exact=True)).to_be_in_viewport()
    tab.go_back()
    expect(tab.get_by_role("link", name="Two")).to_be_in_viewport()
    tab.go_forward()
    expect(tab.get_by_text("Here", exact=True)).to_be_in_viewport()

    expect(tab.get_by_label("New note")).to_have_value("Typed")
    assert tab.url.endswith("#two")
    assert tab.evaluate("window.first"), "no other document was loaded"
