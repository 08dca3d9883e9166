"""What a page does while it waits: optimistic values, promises in transitions, deferred values."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.e2e.support import Server, fx, served, visit
from tests.e2e.test_guestbook import HYDRATED, hydrated
from tests.e2e.waits_site import SITE
from tests.short import amount
from tests.trees import write_tree

ROWS = amount(8_000, long=30_000)
"""Of a deferred value that browsers take some time to show (count)."""

LOST = "The connection was lost. Reload the page."
REVIEW = "Review 1 </script><!--<script> \u2028 &amp;"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    project = tmp_path_factory.mktemp("waits")
    write_tree(project, SITE)
    fx("build", cwd=project)
    with served(project) as server:
        yield server


@pytest.mark.parametrize(("path", "status"), [("", 500), ("/cached", 500), ("?inner", 200)])
def test_a_page_that_fails_has_its_status_in_spite_of_a_loading_file(
    site: Server, browser: Browser, path: str, status: int
) -> None:
    visitor = visit(browser)
    response = visitor.page.goto(f"{site.url}/fails{path}")

    assert response is not None
    assert response.status == status
    assert "<p>loading</p>" not in response.text()
    expect(visitor.page.locator("b", has_text="shown")).to_have_count(int(status == 200))


def test_three_quick_clicks_give_three_and_a_failure_gives_the_true_value_back(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    page = visitor.page
    held: list[Route] = []
    hydrated(visitor, f"{site.url}/likes")
    page.evaluate(
        """() => {
          const output = document.getElementById("shown");
          window.seen = [];
          new MutationObserver(() => window.seen.push(output.textContent)).observe(
            output, { characterData: true, childList: true, subtree: true });
        }"""
    )
    page.route("**/__actions/**", lambda route: held.append(route))
    for count in (1, 2, 3):
        page.locator("#like").click()
        expect(page.locator("#shown")).to_have_text(str(count))
    expect(page.locator("#stored")).to_have_text("0")
    expect(page.locator("#pending")).to_have_text("true")

    for route in held:
        route.continue_()
    expect(page.locator("#stored")).to_have_text("3")
    expect(page.locator("#shown")).to_have_text("3")
    assert page.evaluate("window.seen") == ["1", "2", "3"]

    held.clear()
    page.locator("#fail").click()
    expect(page.locator("#shown")).to_have_text("9")
    held[0].continue_()
    expect(page.locator("#shown")).to_have_text("3")
    expect(page.locator("#error")).to_have_text("Sign in first.")
    expect(page.locator("h1")).to_have_text("Likes")

    form = page.locator("#in-form")
    for by, expected, after, stays in (
        ("me", "5 true", "5 false", ""),
        ("nobody", "11 true", "5 false Sign in first.", "nobody"),
    ):
        held.clear()
        page.locator("#by").fill(by)
        page.locator("#send").click()
        expect(form).to_have_text(expected)
        held[0].continue_()
        expect(form).to_have_text(after)
        expect(page.locator("#stored")).to_have_text("5")
        expect(page.locator("#by")).to_have_value(stays)
    assert [one for one in visitor.complaints if "403" not in one] == []
    page.context.close()


def test_every_promise_may_be_awaited_within_a_transition(site: Server, browser: Browser) -> None:
    visitor = visit(browser)
    page = visitor.page
    signed = '{"ok": true, "user": {"id": 1}}'
    page.route("**/api/__auth/log*", lambda route: route.fulfill(body=signed))
    page.route("**/api/__auth/register", lambda route: route.fulfill(body=signed))
    page.route("**/api/__auth/session", lambda route: route.fulfill(body='{"user": null}'))
    hydrated(visitor, f"{site.url}/waits")
    steps = {"navigate": "navigated", "redirect": "forwarded", "both": "both"}
    expect(page.locator("#counted")).to_have_text("0")  # `initial`, before there is a value
    buttons = [one.get_attribute("id") for one in page.locator("button").all()]
    assert len(buttons) == 15
    step = ""
    for name in buttons:
        page.locator(f"#{name}").click()
        expect(page.locator("#ended")).to_have_text(str(name))
        step = steps.get(str(name), step)
        expect(page.locator("h1")).to_have_text(f"Waits {step}".strip())
    expect(page.locator("#counted")).to_have_text("3")
    assert [one for one in visitor.complaints if "400" not in one] == []
    page.context.close()


def test_back_restores_what_was_typed_and_the_heading_has_the_focus(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    page = visitor.page
    hydrated(visitor, f"{site.url}/typed")
    typed = ("text", "controlled", "password", "shown-password", "code", "long")
    for name in typed:
        page.locator(f"#{name}").fill(f"typed in {name}")
    page.locator("#check").uncheck()
    page.locator("#one").select_option("c")

    page.get_by_text("away").click()
    expect(page.locator("h1")).to_have_text("Likes")
    expect(page.locator("h1")).to_be_focused()
    page.go_back()
    expect(page.locator("h1")).to_have_text("Typed")
    expect(page.locator("h1")).to_be_focused()
    expected = dict.fromkeys(typed, "")
    expected |= {"text": "typed in text", "long": "typed in long", "controlled": "first"}
    for name, value in expected.items():
        expect(page.locator(f"#{name}")).to_have_value(value)
    expect(page.locator("#check")).not_to_be_checked()
    expect(page.locator("#one")).to_have_value("c")

    page.get_by_text("below").click()
    page.locator("#text").fill("typed later")
    page.go_back()
    expect(page).to_have_url(f"{site.url}/typed")
    expect(page.locator("#text")).to_have_value("typed later")
    assert visitor.complaints == []
    page.context.close()


def test_view_transitions_animate_fresh_data_and_navigations(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    page = visitor.page
    hydrated(visitor, f"{site.url}/moving/one")
    page.evaluate(
        """() => {
          window.transitions = 0;
          const start = document.startViewTransition.bind(document);
          document.startViewTransition = (...options) => {
            window.transitions += 1;
            return start(...options);
          };
        }"""
    )
    page.get_by_text("add").click()
    expect(page.locator(".note")).to_have_count(2)
    assert page.evaluate("window.transitions") == 1
    page.get_by_text("two").click()
    expect(page.locator("h1")).to_have_text("Two")
    expect(page.locator("h1")).to_be_focused()
    assert page.evaluate("window.transitions") == 2
    assert visitor.complaints == []
    page.context.close()


def test_a_page_is_interactive_before_its_deferred_values(site: Server, browser: Browser) -> None:
    visitor = visit(browser)
    page = visitor.page
    page.goto(f"{site.url}/books/first?count={ROWS}", wait_until="commit")
    expect(page.locator("#price")).to_have_text("3")
    expect(page.locator("#wait")).to_be_visible()
    page.wait_for_function(HYDRATED)
    page.locator("#clicks").click()
    expect(page.locator("#clicks")).to_have_text("1")
    page.locator("#publish").click()
    expect(page.locator("#reviews li").nth(1)).to_have_text(REVIEW)
    expect(page.locator("#reviews li")).to_have_count(ROWS)
    expect(page.locator("#clicks")).to_have_text("1")

    page.locator("#refresh").click()
    page.locator("#clicks").click()
    expect(page.locator("#clicks")).to_have_text("2")
    expect(page.locator("#reviews")).to_be_visible()
    assert visitor.complaints == []


def test_without_scripts_deferred_values_are_in_their_place(site: Server, browser: Browser) -> None:
    visitor = visit(browser, javascript=False)
    page = visitor.page
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url.removeprefix(site.url)))
    page.goto(f"{site.url}/likes")
    with page.expect_request("**/books/plain?count=3&__fx_settled"):
        page.goto(f"{site.url}/books/plain?count=3", wait_until="commit")
    # The functions of the first document were cancelled; those of this one wait.
    url = f"{site.url}/api/__actions/books/plain/publish"
    headers = {"sec-fetch-site": "same-origin"}
    assert page.request.post(url, data={"id": "plain"}, headers=headers).ok

    expect(page.locator("#reviews li").nth(1)).to_have_text(REVIEW)
    expect(page.locator("h1 ~ #price + ul#reviews ~ a")).to_have_count(3)
    expect(page.locator("#wait")).to_have_count(0)
    assert [one for one in seen if one.startswith("/books/plain")] == [
        "/books/plain?count=3",
        "/books/plain?count=3&__fx_settled",
    ]
    page.go_back()
    expect(page.locator("h1")).to_have_text("Likes")
    assert visitor.complaints == []


def test_a_navigation_shows_deferred_values_and_leaving_cancels_them(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    page = visitor.page
    page.goto(f"{site.url}/books/zero", wait_until="commit")
    page.wait_for_function(HYDRATED)
    page.get_by_text("second").click()
    expect(page.locator("h1")).to_have_text("Book second")
    expect(page.locator("#wait")).to_be_visible()
    page.get_by_text("third").click()
    expect(page.locator("h1")).to_have_text("Book third")
    expect(page.locator("#wait")).to_be_visible()
    page.locator("#refresh").click()
    page.locator("#cancelled").click()
    expect(page.locator("#cancelled")).to_contain_text("third")
    expect(page.locator("#wait")).to_be_visible()
    page.locator("#publish").click()
    expect(page.locator("#reviews li").nth(1)).to_have_text(REVIEW)
    page.locator("#cancelled").click()
    expect(page.locator("#cancelled")).to_contain_text("zero,second")
    assert visitor.complaints == []


def test_back_scrolls_once_deferred_values_make_the_page_long_enough(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    page = visitor.page
    publish = """() => fetch("/api/__actions/books/first/publish", {
      method: "POST", headers: { "content-type": "application/json" }, body: '{"id": "first"}' })"""
    page.goto(f"{site.url}/books/first?count=200", wait_until="commit")
    page.wait_for_function(HYDRATED)
    page.locator("#publish").click()
    expect(page.locator("#reviews li")).to_have_count(200)
    page.get_by_text("second").scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    page.get_by_text("second").click()
    expect(page.locator("h1")).to_have_text("Book second")
    page.go_back()
    expect(page.locator("h1")).to_have_text("Book first")
    expect(page.locator("#wait")).to_be_visible()
    assert page.evaluate("scrollY") < before
    page.evaluate(publish)
    page.wait_for_function("before => Math.abs(scrollY - before) <= 1", arg=before)
    assert before > 1000
    assert visitor.complaints == []


@pytest.mark.parametrize("navigates", [True, False])
def test_a_deferred_value_that_fails_shows_the_nearest_error_page(
    site: Server, browser: Browser, navigates: bool
) -> None:
    page = visit(browser).page
    page.goto(f"{site.url}/books/{'zero' if navigates else 'missing'}", wait_until="commit")
    page.wait_for_function(HYDRATED)
    if navigates:
        page.get_by_text("missing").click()
    expect(page.locator("h1")).to_have_text("Book missing")
    page.locator("#publish").click()
    expect(page.locator("#failed")).to_have_text("503 No reviews today. tomorrow")


@contextmanager
def cut_connections(server: Server) -> Iterator[tuple[str, Callable[[], None]]]:
    """Forward connections to a server; yield the URL, and a function that cuts those there are.

    Documents come uncompressed, and say that their values come within a second.
    """
    upstream = ("127.0.0.1", int(server.url.rpartition(":")[2]))
    links: list[socket.socket] = []

    def copy(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                data = data.replace(b"Accept-Encoding", b"X-Not-Accepting")
                sink.sendall(data.replace(b'"within":10', b'"within": 1'))
            sink.shutdown(socket.SHUT_WR)

    def link(client: socket.socket) -> None:
        with client, socket.create_connection(upstream) as behind:
            links.extend((client, behind))
            back = Thread(target=copy, args=(behind, client))
            back.start()
            copy(client, behind)
            back.join()

    def accept(listener: socket.socket) -> None:
        threads = []
        with suppress(OSError):
            while True:
                threads.append(Thread(target=link, args=(listener.accept()[0],)))
                threads[-1].start()
        cut()
        for thread in threads:
            thread.join()

    def cut() -> None:
        while links:
            with suppress(OSError):
                links.pop().shutdown(socket.SHUT_RDWR)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepting = Thread(target=accept, args=(listener,))
        accepting.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", cut
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join()


def test_a_document_whose_connection_is_lost_shows_the_error_page(
    site: Server, browser: Browser
) -> None:
    page = visit(browser).page
    with cut_connections(site) as (url, cut):
        page.goto(f"{url}/books/lost", wait_until="commit")
        page.wait_for_function(HYDRATED)
        expect(page.locator("#wait")).to_be_visible()
        cut()
        expect(page.locator("#failed")).to_have_text(f"503 {LOST}")
        page.context.close()


def test_the_failure_of_a_value_that_the_shell_needs_is_that_of_the_page(
    site: Server, browser: Browser
) -> None:
    page, since = visit(browser).page, site.from_now_on()
    response = page.goto(f"{site.url}/books/needed")
    assert response is not None and response.status == 410
    expect(page.locator("#failed")).to_have_text("410 Out of print. never")
    page.goto(f"{site.url}/books/zero", wait_until="commit")
    page.wait_for_function(HYDRATED)
    page.get_by_text("missing").click()
    page.locator("#publish").click()
    expect(page.locator("#failed")).to_have_text("503 No reviews today. tomorrow")
    assert "defer('book'): 'Out of print.' (410)" in since.output()
    assert "[ERROR]" not in since.output()


def test_components_share_a_stream_which_is_continued_behind_the_last_id(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    page = visitor.page
    requested: list[str] = []
    page.on("request", lambda one: requested.append(one.url) if "__streams" in one.url else None)
    hydrated(visitor, f"{site.url}/feed")
    expect(page.locator("#missed")).to_have_text("2")
    # The first response failed; the browser has waited as it was told, and sent the id.
    text = ",".join(f"value {number}" for number in range(1, 7))
    expect(page.locator("#values")).to_have_text(text)
    expect(page.locator("#last")).to_have_text("value 6")
    expect(page.locator("#status")).to_have_text("open")
    expect(page.locator("#count")).to_have_text("2")
    assert len(requested) == 2
    page.get_by_text("Leave").click()
    expect(page.locator("h1")).to_have_text("Likes")
    other = visit(browser).page
    for _ in range(100):  # the server notices within a second that the reader has left
        other.goto(f"{site.url}/likes")
        other.goto(f"{site.url}/feed")  # the loader runs before its own stream
        if other.locator("#open").text_content() == "0":
            break
    expect(other.locator("#open")).to_have_text("0")


def test_the_data_of_another_page_is_shared_and_loaded_again(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    page = visitor.page
    requested: list[str] = []
    page.on(
        "request", lambda request: requested.append(request.url) if "/cart" in request.url else None
    )
    page.goto(f"{site.url}/shop")
    for name in ("#one", "#two"):
        expect(page.locator(name)).to_have_text("1 false 7")
    assert requested.count(f"{site.url}/cart") == 1
    page.locator("#put").click()
    for name in ("#one", "#two"):
        expect(page.locator(name)).to_have_text("2 false 14")
    with page.expect_response("**/cart"):
        page.locator("#refresh").click()
    page.locator("#nobody").click()
    expect(page.locator("#one")).to_have_text("Redirect /likes false")
    expect(page.locator("#two")).to_have_text("2 false 14")
    page.locator("#none").click()
    expect(page.locator("#one")).to_have_text("undefined false")
    assert visitor.complaints == []


def test_a_refresh_of_some_keys_leaves_the_others(site: Server, browser: Browser) -> None:
    page = (visitor := visit(browser)).page
    page.goto(f"{site.url}/cart")
    total = page.locator("#total").inner_text()
    before = page.locator("#loaded").inner_text().split(",")
    page.wait_for_function(HYDRATED)
    page.locator("#only").click()
    expect(page.locator("#loaded")).not_to_have_text(",".join(before))
    after = page.locator("#loaded").inner_text().split(",")
    assert after[len(before) :] == ["total", "cart"]
    page.locator("#only").click()
    expect(page.locator("#loaded")).to_have_text(",".join([*after, "cart"]))
    expect(page.locator("#total")).to_have_text(total)
    assert visitor.complaints == []
