"""A bundled project in a real browser: hydration, navigation, forms, errors."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from fxtrio.compile.bundling.bundle import BundleResult
from fxtrio.serve.request.client_protocol import PAYLOAD
from tests.bundle.project import Project, stream
from tests.bundle.sample_site import DEFERRED_ID, EXTRAS_ID, FORM_ID, IDS, make_project
from tests.bundle.site import Answer, Request, Site, serve
from tests.e2e.support import PATIENCE

pytestmark = [pytest.mark.node, pytest.mark.browser]

State = Callable[[Request], dict[str, Any]]
Built = tuple[Project, BundleResult, dict[str, tuple[str, str]]]

ALIVE = """
  Object.keys(document.querySelector('#count') ?? {}).some((key) => key.startsWith('__reactProps'))
"""
"""React has taken over the document."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The project, bundled for development so that React tells of every difference."""
    project = make_project(tmp_path_factory.mktemp("site"))
    result = project.build(mode="development")
    site = Site(result, project.staging / "client", make_states())
    html = {}
    for path in ("/", "/about", "/long", "/form"):
        state = site.state(path)
        answer = project.render(result, state["page"]["id"], **state)
        html[path] = (answer["head"], answer["html"])
    return project, result, html


def make_states() -> dict[str, State]:
    counts: dict[str, int] = {}

    def state_of(path: str, view: int) -> State:
        def state(request: Request) -> dict[str, Any]:
            counts[path] = counts.get(path, 0) + 1
            number = 0 if not request.navigation else counts[path]
            data = {"n": number, "side": "filled"}
            more: dict[str, Any] = {"view": view, "props": {"data": data, "layoutData": {}}}
            if path.startswith("/item/"):
                more["params"] = {"id": path[-1]}
            if path == "/broken":
                more |= {"ok": False, "statusCode": 418, "error": "No tea", "type": "LoaderError"}
            return more

        return state

    views = {**IDS, "/form": FORM_ID, "/extras": EXTRAS_ID, "/late": DEFERRED_ID}
    return {path: state_of(path, view) for path, view in views.items()}


@pytest.fixture
def site(built: Built) -> Site:
    project, result, html = built
    site = Site(result, project.staging / "client", make_states(), html)
    script = b"window.counted = (window.counted ?? 0) + 1;"
    site.answers["/favicon.ico"] = lambda request: Answer(200, "image/svg+xml", b"<svg/>")
    site.answers["/counted.js"] = lambda request: Answer(200, "text/javascript", script)
    return site


@pytest.fixture
def origin(site: Site) -> Iterator[str]:
    with serve(site) as origin:
        yield origin


@pytest.fixture
def errors() -> list[str]:
    """What the console said; tests that expect nothing need not look at it."""
    return []


@pytest.fixture
def page(browser: Browser, origin: str, errors: list[str]) -> Iterator[Page]:
    context = browser.new_context(base_url=origin, viewport={"width": 800, "height": 600})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            errors.append(message.text)

    page.on("console", hear)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()


def wait_until(page: Page, expression: str) -> None:
    """Wait until ``expression`` is true in the page; its policy allows no `wait_for_function`."""
    for _ in range(6000):  # a minute
        if page.evaluate(expression):
            return
        page.wait_for_timeout(10)
    raise AssertionError(f"{expression} has not become true")


def open_page(page: Page, path: str = "/") -> None:
    """Load a document and wait until it has come to life."""
    page.goto(path)
    wait_until(page, ALIVE)
    page.click("#count")
    expect(page.locator("#count")).to_have_text("1")
    page.evaluate("window.sameDocument = true")


def same_document(page: Page) -> bool:
    return bool(page.evaluate("window.sameDocument === true"))


def test_a_page_comes_to_life_without_a_difference(page: Page, errors: list[str]) -> None:
    open_page(page)
    expect(page.locator("em")).to_have_text("/")
    expect(page.locator("aside")).to_have_text("filled")
    assert page.title() == "Home"
    assert page.locator("head title").count() == 1
    assert page.evaluate("window.counted") == 1, "a script of the head runs once"
    assert errors == []


def test_a_document_without_html_is_rendered_by_the_browser(
    page: Page, site: Site, errors: list[str]
) -> None:
    site.html = {}
    open_page(page)
    assert page.title() == "Home"
    assert errors == []


def test_a_link_shows_a_page_in_the_same_document(
    page: Page, site: Site, errors: list[str]
) -> None:
    open_page(page)
    page.click("text=about")
    expect(page.locator("#about")).to_be_visible()
    assert same_document(page)
    assert page.url.endswith("/about")
    expect(page.locator("#count")).to_have_text("1")
    expect(page.locator("aside")).to_have_text("no side")
    assert site.requested(navigation=False) == ["/"]
    assert errors == []


def test_the_head_is_that_of_the_new_page(page: Page) -> None:
    open_page(page)
    page.click("text=about")
    expect(page).to_have_title("Site")
    description = page.locator('meta[name="description"]')
    expect(description).to_have_attribute("content", "about")
    assert description.count() == 1
    assert page.locator('script[src="/counted.js"]').count() == 0
    page.click("text=home")
    expect(page).to_have_title("Home")
    expect(description).to_have_attribute("content", "site")


def test_stylesheets_come_with_their_page_and_go_with_it(page: Page) -> None:
    def margin() -> str:
        return str(page.evaluate("getComputedStyle(document.querySelector('h1')).marginTop"))

    open_page(page)
    expect(page.locator("#home")).to_have_css("color", "rgb(255, 0, 0)")
    assert margin() == "7px"
    page.click("text=about")
    expect(page.locator("#about")).to_have_css("color", "rgb(0, 0, 255)")
    assert margin() != "7px", "the stylesheet of the page before is gone"


def test_resting_on_a_link_and_clicking_it_runs_the_loader_once(page: Page, site: Site) -> None:
    open_page(page)
    with page.expect_response("**/about"):
        page.hover("text=about")
    page.click("text=about")
    expect(page.locator("#about")).to_be_visible()
    assert site.requested(navigation=True).count("/about") == 1


def test_a_link_that_is_seen_is_prefetched(page: Page, site: Site) -> None:
    with page.expect_response("**/about?seen"):
        open_page(page)


def test_a_modified_click_is_left_to_the_browser(page: Page, site: Site) -> None:
    open_page(page)
    with page.context.expect_page() as opened:
        page.click("text=about", modifiers=["Control"])
    opened.value.wait_for_url("**/about")
    expect(page.locator("#home")).to_be_visible()


def test_pages_and_templates_are_mounted_again_for_another_path(page: Page) -> None:
    open_page(page)
    page.click("text=one")
    expect(page.locator("#item")).to_have_text("1 1")
    first = page.get_attribute("[data-made]", "data-made")
    page.click("text=two")
    expect(page.locator("#item")).to_have_text("2 2")
    assert page.get_attribute("[data-made]", "data-made") != first


def test_another_query_keeps_what_was_typed(page: Page) -> None:
    open_page(page)
    page.fill("#text", "typed")
    page.click("#query")
    expect(page.locator("#q")).to_have_text("1")
    expect(page.locator("#text")).to_have_value("typed")
    assert page.url.endswith("/?q=1")


def test_a_refresh_loads_the_data_again_and_keeps_what_was_typed(page: Page) -> None:
    open_page(page)
    page.fill("#text", "typed")
    page.click("#refresh")
    expect(page.locator("#home")).not_to_have_text("Home 0")
    expect(page.locator("#text")).to_have_value("typed")
    assert same_document(page)


def test_back_shows_the_page_before_where_it_was_left(page: Page) -> None:
    open_page(page, "/long")
    page.evaluate("scrollTo(0, 1234)")
    page.evaluate("document.querySelector('nav a').click()")
    expect(page.locator("#home")).to_be_visible()
    assert page.evaluate("scrollY") == 0
    page.go_back()
    expect(page.locator("#far")).to_be_attached()
    wait_until(page, "scrollY === 1234")
    assert same_document(page)
    page.go_forward()
    expect(page.locator("#home")).to_be_visible()
    assert same_document(page)


def test_a_hash_scrolls_to_its_element_and_focuses_it(page: Page, site: Site) -> None:
    open_page(page)
    page.click("text=far")
    wait_until(page, "scrollY > 2000")
    assert page.evaluate("document.activeElement.id") == "far"
    page.evaluate("scrollTo(0, 0)")
    requested = [site.requested(navigation=how) for how in (False, True)]
    page.click("text=far")
    wait_until(page, "scrollY > 2000")
    requested_after = [site.requested(navigation=how) for how in (False, True)]
    assert requested_after == requested, "the page is shown already"


def test_a_navigation_is_announced_and_moves_the_focus(page: Page) -> None:
    open_page(page)
    page.click("text=about")
    expect(page.locator("#fx-announcer")).to_have_text("Site")
    assert page.evaluate("document.activeElement.id") == "about"


def test_an_error_of_a_loader_reaches_the_page_after_one_request(page: Page, site: Site) -> None:
    open_page(page)
    page.click("text=broken")
    expect(page.locator("#failed p")).to_have_text("418 LoaderError: No tea")
    expect(page.locator("#count")).to_have_text("1")
    assert site.requested(navigation=True).count("/broken") == 1
    assert same_document(page)


def test_an_error_of_a_component_shows_the_error_page_inside_of_the_layout(
    page: Page, errors: list[str]
) -> None:
    open_page(page)
    page.click("text=throws")
    expect(page.locator("#failed p")).to_have_text("500 RangeError: thrown in the browser")
    expect(page.locator("#count")).to_have_text("1")
    assert any("thrown in the browser" in text for text in errors), "the console has the stack"
    page.evaluate("window.calm = true")
    page.click("#reset")
    expect(page.locator("#calm")).to_be_visible()


def test_an_error_of_the_layout_shows_the_error_page_without_it(page: Page) -> None:
    open_page(page)
    page.evaluate("window.breakLayout = true")
    page.click("#count")
    expect(page.locator("#failed p")).to_have_text("500 Error: the layout broke")
    assert page.locator("nav").count() == 0


def test_another_page_takes_the_place_of_an_error_page(page: Page) -> None:
    open_page(page)
    page.click("text=throws")
    expect(page.locator("#failed")).to_be_visible()
    page.click("text=about")
    expect(page.locator("#about")).to_be_visible()


def test_a_redirect_is_followed_without_leaving_the_document(page: Page, site: Site) -> None:
    body = json.dumps({"ok": True, "redirect": "/about"}).encode()
    site.answers["/moved"] = lambda request: Answer(200, PAYLOAD.decode(), body)
    open_page(page)
    page.click("text=moved")
    expect(page.locator("#about")).to_be_visible()
    assert page.url.endswith("/about")
    assert same_document(page)


def test_an_answer_that_is_no_payload_is_loaded_as_a_document(page: Page) -> None:
    open_page(page)
    page.click("text=moved")
    expect(page.locator("h1")).to_have_text("nothing here")


def test_another_build_on_the_server_loads_the_document(page: Page, site: Site) -> None:
    open_page(page)
    site.build = "another"
    page.click("text=about")
    expect(page.locator("#about")).to_be_visible()
    assert not same_document(page)
    assert "/about" in site.requested(navigation=False)


def test_a_newer_click_takes_the_place_of_a_slow_page(page: Page, site: Site) -> None:
    answered = threading.Event()

    def slow(request: Request) -> Answer:
        answered.wait(20)
        return Answer(200, "text/html", b"too late")

    site.answers["/slow"] = slow
    open_page(page)
    page.click("text=slow")
    expect(page.locator("#pending")).to_have_text("true")
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/slow")):
        page.click("text=about")
    answered.set()
    expect(page.locator("#about")).to_be_visible()
    expect(page.locator("#pending")).to_have_text("false")
    assert page.url.endswith("/about")


def form_site(site: Site, status: int, body: dict[str, object], **headers: str) -> list[Request]:
    """Answer the action; return the list that its requests will be in."""
    requests: list[Request] = []

    def answer(request: Request) -> Answer:
        requests.append(request)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Answer(status, "application/json", json.dumps(body).encode(), named)

    site.answers["/api/__actions/form/save"] = answer
    return requests


def test_a_form_keeps_files_repeated_fields_and_its_button(page: Page, site: Site) -> None:
    requests = form_site(site, 200, {"ok": True, "id": 5})
    open_page(page, "/form")
    page.set_input_files(
        "input[type=file]", {"name": "a.txt", "mimeType": "text/plain", "buffer": b"file-text"}
    )
    page.fill("input[name=title]", "changed")
    page.click("#f button")
    expect(page.locator("#said")).to_have_text("ok 5")
    expect(page.locator("input[name=title]")).to_have_value("t")
    [request] = requests
    assert request.headers["accept"] == "application/json, text/event-stream"
    body = request.body.decode()
    assert body.count('name="tag"') == 2
    for text in ('name="title"\r\n\r\nchanged', 'filename="a.txt"', "file-text", "pressed"):
        assert text in body


def test_a_form_shows_the_errors_of_its_fields(page: Page, site: Site) -> None:
    form_site(
        site, 422, {"ok": False, "error": "Validation failed", "fields": {"title": ["Too short"]}}
    )
    open_page(page, "/form")
    page.click("#f button")
    expect(page.locator("#error")).to_have_text("Validation failed")
    expect(page.locator("#field")).to_have_text("Too short")
    expect(page.locator("#said")).to_have_text('Validation failed {"title":["Too short"]}')


def test_a_form_is_sent_by_the_browser_without_javascript(
    browser: Browser, origin: str, site: Site
) -> None:
    requests = form_site(site, 200, {"ok": True})
    with browser.new_context(base_url=origin, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/form")
        page.click("#f button")
        page.wait_for_url("**/api/__actions/form/save")
    [request] = requests
    assert request.method == "POST"
    assert request.headers["content-type"].startswith("multipart/form-data")
    assert "text/html" in request.headers["accept"]
    assert request.body.count(b'name="tag"') == 2


def test_an_action_sends_the_token_and_invalidates_what_it_names(page: Page, site: Site) -> None:
    requests = form_site(site, 200, {"ok": True, "id": 7}, x_fx_invalidate="/about, /")
    about = site.states["/about"]
    site.states["/about"] = lambda request: {**about(request), "ttl": 60}
    open_page(page, "/form")
    page.context.add_cookies([{"name": "fx-csrf", "value": "n.s", "url": page.url}])
    page.click("text=about")
    expect(page.locator("#about")).to_be_visible()
    page.go_back()
    expect(page.locator("#form")).to_be_visible()
    page.click("#call")
    expect(page.locator("#called")).to_have_text("7")
    assert requests[0].headers["x-csrf-token"] == "n.s"
    assert requests[0].body == b'{"n":1}'
    before = site.requested(navigation=True).count("/about")
    page.click("text=about")
    expect(page.locator("#about")).to_be_visible()
    assert site.requested(navigation=True).count("/about") == before + 1


def test_a_page_with_a_time_to_live_is_requested_once(page: Page, site: Site) -> None:
    about = site.states["/about"]
    site.states["/about"] = lambda request: {**about(request), "ttl": 60}
    open_page(page)
    for _ in range(2):
        page.click("text=about")
        expect(page.locator("#about")).to_be_visible()
        page.click("text=home")
        expect(page.locator("#home")).to_be_visible()
    assert site.requested(navigation=True).count("/about") == 1


def test_a_streamed_page_comes_to_life_without_a_difference(
    page: Page, site: Site, built: Built, errors: list[str]
) -> None:
    project, result, _ = built
    site.states["/late"] = lambda request: {
        "view": DEFERRED_ID,
        "props": {"data": {"text": "arrived"}, "layoutData": {}},
    }
    answer = stream(
        project.staging, result, DEFERRED_ID, {"text": "arrived"}, **site.state("/late")
    )
    assert "<i>loading</i>" in answer["html"]
    site.html["/late"] = (answer["head"], answer["html"])
    site.streamed.add("/late")
    open_page(page, "/late")
    page.click("#late")
    expect(page.locator("#late")).to_have_text("arrived 1")
    expect(page).to_have_title("arrived")
    assert page.locator("i", has_text="loading").count() == 0
    assert page.locator("title").count() == 1
    assert errors == []


def test_a_script_runs_once_with_the_nonce_of_the_policy(page: Page) -> None:
    open_page(page, "/extras")
    expect(page.locator("#extras")).to_have_text("2")
    assert page.evaluate("window.counted") == 1
    assert page.evaluate("window.inline") == 1
    wait_until(page, "window.failed")
    assert page.evaluate("window.failed") == "Script: /missing.js could not be loaded."
    page.click("text=home")
    expect(page.locator("#home")).to_be_visible()
    page.go_back()
    expect(page.locator("#extras")).to_have_text("2")
    assert page.evaluate("window.inline") == 1


def test_the_user_is_requested_once_and_changes_with_the_responses(page: Page, site: Site) -> None:
    def answers(body: dict[str, object]) -> Callable[[Request], Answer]:
        return lambda request: Answer(200, "application/json", json.dumps(body).encode())

    user = {"id": 1, "email": "a@b.c"}
    site.answers["/api/__auth/session"] = answers({"ok": True, "user": None})
    site.answers["/api/__auth/login"] = answers({"ok": True, "user": user})
    site.answers["/api/__auth/logout"] = answers({"ok": True})
    open_page(page, "/extras")
    expect(page.locator("#user")).to_have_text("signed-out")
    loaded = len(site.requested(navigation=True))
    page.click("#login")
    expect(page.locator("#user")).to_have_text("signed-in a@b.c")
    page.click("#logout")
    expect(page.locator("#user")).to_have_text("signed-out")
    sessions = [request for request in site.requests if request.path.endswith("/session")]
    assert len(sessions) == 1
    assert len(site.requested(navigation=True)) == loaded + 2, "the page's data is loaded anew"
