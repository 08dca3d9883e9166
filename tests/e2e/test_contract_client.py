"""The rules of the runtime API that only a browser can show."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.contract.rules import FOLDER, rule
from tests.e2e.support import Server, Visitor, fx, served, visit
from tests.e2e.test_guestbook import hydrated

FIELDS = {"email": ["is taken", "try another"], "age": ["is odd"]}
HEAD = """
    [...document.head.querySelectorAll("title, meta[name]")]
        .map((each) => [each.getAttribute("name") ?? "title", each.content ?? each.textContent])
        .filter(([name]) => name !== "viewport")
        .sort()
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    project = Path(shutil.copytree(FOLDER / "browser", tmp_path_factory.mktemp("site") / "client"))
    fx("build", cwd=project)
    with served(project) as server:
        yield server


@pytest.fixture
def visitor(site: Server, browser: Browser, request: pytest.FixtureRequest) -> Visitor:
    """A browser at `/`; its test has a set of counted pages of its own."""
    name = "".join(char if char.isalnum() else "-" for char in request.node.name)
    opened = visit(browser)
    hydrated(opened, f"{site.url}/?set={name}")
    return opened


def press(visitor: Visitor, button: str) -> Any:
    """Press a button and return what its handler has seen then."""
    output = visitor.page.locator("#seen")
    before = output.inner_text()
    visitor.page.get_by_role("button", name=button, exact=True).click()
    expect(output).not_to_have_text(before)
    return json.loads(output.inner_text())


def count_of(visitor: Visitor, letter: str) -> int:
    """Navigate to a counted page and return how often it has been loaded; go back."""
    visitor.page.locator(f"a[href$='-{letter}']").click()
    heading = visitor.page.get_by_role("heading")
    expect(heading).to_contain_text(f"-{letter} was loaded")
    words = heading.inner_text().split()
    visitor.page.go_back()
    expect(visitor.page.get_by_role("button", name="Prefetch")).to_be_visible()
    return int(words[-2])


@rule("bodies.use_action")
def test_bodies_use_action_has_the_map_as_fields_of_its_result(visitor: Visitor) -> None:
    result = press(visitor, "Sign up")
    assert (result["ok"], result["error"], result["fields"]) == (False, "Look again", FIELDS)
    assert json.loads(visitor.page.locator("#fields").inner_text()) == FIELDS
    invalid = press(visitor, "Sign up wrongly")
    assert (invalid["error"], set(invalid["fields"])) == ("Validation failed", {"email", "age"})


def test_an_action_throws_a_failure_where_that_is_requested(visitor: Visitor) -> None:
    assert press(visitor, "Sign up or throw") == [True, "Look again", FIELDS, None]
    expect(visitor.page.locator("#thrown")).to_have_text("Look again")  # the state is the same


@rule("bodies.form")
def test_bodies_form_passes_the_map_as_second_argument_of_on_error(visitor: Visitor) -> None:
    assert press(visitor, "Send form")[:2] == ["Look again", FIELDS]
    visitor.page.locator("[name=age]").fill("old")
    message, fields, *_ = press(visitor, "Send form")
    assert (message, list(fields)) == ("Validation failed", ["age"])


@rule("invalidate_routes.4", "invalidate_routes.urls")
@pytest.mark.parametrize(
    ("button", "answer"),
    [
        ("Evict", {"evicted": True}),
        ("Evict by form", {"evicted": True}),
        ("Evict by response", {"evicted": True}),
        ("Evict by nothing", {}),
        ("Evict by empty form", {}),
    ],
)
def test_invalidate_routes_4_each_listed_payload_is_loaded_again_and_no_other(
    visitor: Visitor, button: str, answer: dict[str, bool]
) -> None:
    assert press(visitor, "Prefetch") == "prefetched"
    result = {"ok": True, "fields": {}, **press(visitor, button)}  # `Form` gives the keys alone
    assert result == {"ok": True, "fields": {}, **answer}
    assert {letter: count_of(visitor, letter) for letter in "abc"} == {"a": 2, "b": 2, "c": 1}


@rule("invalidate_routes.urls")
def test_invalidate_routes_urls_stay_cached_without_the_action(visitor: Visitor) -> None:
    assert press(visitor, "Prefetch") == "prefetched"
    assert {letter: count_of(visitor, letter) for letter in "abc"} == {"a": 1, "b": 1, "c": 1}


@rule("head.3", "head.3b")
def test_head_3_a_navigation_merges_like_a_whole_document(visitor: Visitor, site: Server) -> None:
    visitor.page.evaluate("window.sameDocument = true")
    visitor.page.get_by_role("link", name="Titled").click()
    expect(visitor.page).to_have_title("Titled")
    navigated = visitor.page.evaluate(HEAD)
    assert visitor.page.evaluate("window.sameDocument") is True
    assert navigated == [
        ["author", "Head of the page"],
        ["robots", "HEAD of the page"],
        ["title", "Titled"],
    ]
    visitor.page.go_back()
    expect(visitor.page).to_have_title("The layout")
    hydrated(visitor, f"{site.url}/titled")
    assert visitor.page.evaluate(HEAD) == navigated
    assert visitor.complaints == []
