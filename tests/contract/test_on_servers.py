"""The contract over HTTP, on every server: what a client sees, whoever holds the socket."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.contract.rules import rule
from tests.contract.sites import FROM_OWN_PAGES, SERVERS, Server, Site, build_probe, serve_probe

pytestmark = pytest.mark.node


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The probe, built once for each base URL."""
    folder = tmp_path_factory.mktemp("probe")
    return cache(lambda base: build_probe(folder, base))


@pytest.fixture(scope="module", params=SERVERS, ids=lambda server: server.name)
def site(request: pytest.FixtureRequest, built: Callable[[str], Path]) -> Iterator[Site]:
    """The probe on one server after the other."""
    server: Server = request.param
    with serve_probe(built(server.base), server) as served:
        yield served


def wait_until(done: Callable[[], Any]) -> Any:
    """Ask until there is an answer: background work tells no client that it has ended."""
    for _ in range(200):
        if found := done():
            return found
    raise AssertionError("it never came")


def done_with(site: Site, key: str) -> list[str]:
    """Return which kinds of background work have run for ``key``, in any of the processes."""
    answers = [site.act("done").json()["done"] for _ in range(4 * site.server.workers)]
    return sorted({kind for answer in answers for kind, its in answer if its == key})


@rule("loader.4", "errors.2")
@pytest.mark.parametrize(("kind", "status"), [("dict", 200), ("created", 201), ("teapot", 418)])
def test_loader_4_a_dict_and_its_status(site: Site, kind: str, status: int) -> None:
    page = site.get(f"/?k={kind}")
    assert (page.status_code, f'<h1 id="kind">{kind}</h1>' in page.text) == (status, True)
    payload = site.navigate(f"/?k={kind}")
    assert (payload["statusCode"], payload["props"]["data"]["kind"]) == (status, kind)


@rule("limits.4")
@pytest.mark.parametrize("kind", ["not-json", "not-a-dict", "no-status", "bool-status"])
def test_limits_4_what_a_loader_may_not_return_shows_the_boundary(site: Site, kind: str) -> None:
    page = site.get(f"/?k={kind}")
    assert (page.status_code, 'id="boundary"' in page.text) == (500, True)
    assert site.navigate(f"/?k={kind}")["type"] == "ServerError"


@rule("request.path_params")
def test_request_path_params_are_decoded(site: Site) -> None:
    assert site.navigate("/items/a%20b%2Fc")["props"]["data"] == {"id": "a b/c"}


@rule("request.query_params", "request.headers", "request.cookies")
def test_request_query_params_headers_and_cookies(site: Site) -> None:
    page = site.get("/?k=x&q=%C3%A4", x_agent="probe", cookie="flavour=sweet", x_fx_navigation="1")
    data = page.json()["props"]["data"]
    assert data["query"] == {"k": "x", "q": "ä"}
    assert (data["agent"], data["cookie"]) == ("probe", "sweet")


@rule("request.url", "request.method")
def test_request_url_and_method(site: Site) -> None:
    assert site.navigate("/")["props"]["data"]["method"] == "GET"
    assert site.navigate("/")["props"]["data"]["path"] == (site.server.base or "") + "/"
    assert site.act("see").json()["method"] == "POST"


@rule("request.request_id")
@pytest.mark.parametrize("path", ["/", "/?k=error", "/nowhere", "/docs/guide.md", "/llms.txt"])
def test_request_request_id_is_sent_with_every_response(site: Site, path: str) -> None:
    first, second = (site.get(path).headers["x-request-id"] for _ in range(2))
    assert len(first) == 32
    assert first != second


@rule("request.request_id")
def test_request_request_id_is_the_one_in_the_header(site: Site) -> None:
    response = site.act("see")
    assert response.json()["id"] == response.headers["x-request-id"]


@rule("errors.1", "errors.loader_1")
def test_errors_1_a_loader_error_shows_the_boundary(site: Site) -> None:
    page = site.get("/?k=error")
    assert page.status_code == 404
    assert "404 LoaderError: No such thing." in page.text.replace("<!-- -->", "")
    assert site.get("/?k=plain-error").status_code == 500


@rule("errors.loader_2")
def test_errors_loader_2_a_loader_error_as_a_payload(site: Site) -> None:
    response = site.get("/?k=error", x_fx_navigation="1")
    payload = response.json()
    assert (response.status_code, payload["ok"], payload["statusCode"]) == (404, False, 404)
    assert (payload["error"], payload["data"]) == ("No such thing.", {"id": 7})


@rule("errors.loader_4")
def test_errors_loader_4_other_exceptions_reveal_nothing(site: Site) -> None:
    page = site.get("/?k=crash")
    assert page.status_code == 500
    assert "500 ServerError: An unexpected error occurred." in page.text.replace("<!-- -->", "")
    assert "secret" not in page.text


@rule("bodies.success")
def test_bodies_success_has_ok_and_the_keys(site: Site) -> None:
    response = site.act("echo", {"name": "Ann", "nested": [1, {"a": None}]})
    assert response.status_code == 200
    assert response.json() == {"ok": True, "name": "Ann", "nested": [1, {"a": None}]}
    assert site.act("claims_ok").json() == {"ok": True, "kept": 1}


@rule("bodies.error", "errors.3")
def test_bodies_error_of_an_action_error(site: Site) -> None:
    response = site.act("refuse")
    assert response.status_code == 409
    assert response.json() == {
        "ok": False,
        "error": "Already taken.",
        "data": {"by": "Ann"},
        "fields": {"name": ["Taken."]},
    }
    plain = site.act("refuse_plainly")
    assert (plain.status_code, plain.json()) == (400, {"ok": False, "error": "No."})


@rule("bodies.validation", "errors.4")
def test_bodies_validation_of_a_validation_action_error(site: Site) -> None:
    response = site.act("invalid")
    assert response.status_code == 422
    fields = {"name": ["Too short.", "Not a name."]}
    assert response.json() == {"ok": False, "error": "Validation failed", "fields": fields}
    other = site.act("invalid_as_said")
    assert (other.status_code, other.json()["error"]) == (400, "Look again.")


@rule("errors.action_2")
@pytest.mark.parametrize("name", ["crash", "gives_a_list", "gives_no_json", "no_background"])
def test_errors_action_2_other_failures_reveal_nothing(site: Site, name: str) -> None:
    response = site.act(name)
    assert response.status_code == 500
    assert response.json() == {"ok": False, "error": "An unexpected error occurred."}


@rule("errors.action_3")
@pytest.mark.parametrize("name", ["load", "remember", "enqueue", "missing", "HEAD", "__class__"])
def test_errors_action_3_a_function_that_is_no_action_is_unknown(site: Site, name: str) -> None:
    response = site.act(name)
    assert response.status_code == 404
    assert response.json() == {"ok": False, "error": "Action not found"}


@rule("action.4", "action.4b")
def test_action_4_a_typed_body_is_parsed(site: Site) -> None:
    body = {"name": "Ann", "count": "3", "addresses": [{"city": "Rome"}]}
    assert site.act("order", body).json() == {
        "ok": True,
        "name": "Ann",
        "count": 3,
        "cities": ["Rome"],
    }
    form = site.post("/api/__actions/index/order", data={"name": "Bo"}, headers=FROM_OWN_PAGES)
    assert (form.json()["name"], form.json()["count"]) == ("Bo", 1)


@rule("action.4d")
def test_action_4d_attrs_and_dataclasses_are_models(site: Site) -> None:
    assert site.act("point", {"x": 2, "y": 3}).json() == {"ok": True, "sum": 5}
    assert site.act("pair", {"left": "a", "right": "b"}).json() == {"ok": True, "joined": "ab"}
    empty = site.post("/api/__actions/index/maybe", headers=FROM_OWN_PAGES)
    assert empty.json() == {"ok": True, "there": False}


@rule("action.4e")
@pytest.mark.parametrize(
    ("name", "body", "field"),
    [
        ("order", {"count": 1}, "name"),
        ("order", {"name": "Ann", "addresses": [{}]}, "addresses.0.city"),
        ("point", {"x": "no number"}, "x"),
        ("pair", {"left": "a"}, "right"),
    ],
)
def test_action_4e_a_body_that_does_not_hold(site: Site, name: str, body: Any, field: str) -> None:
    response = site.act(name, body)
    assert (response.status_code, response.json()["ok"]) == (422, False)
    assert list(response.json()["fields"]) == [field]


@rule("action.5", "action.5b")
def test_action_5_background_work_runs_after_the_response(site: Site) -> None:
    assert site.act("later", {"key": "both"}).json() == {"ok": True}
    assert wait_until(lambda: done_with(site, "both")) != []
    wait_until(lambda: done_with(site, "both") == ["shorthand", "task"])


@rule("action.5")
def test_action_5_background_work_runs_after_a_rejection(site: Site) -> None:
    assert site.act("later_though_refused", {"key": "refused"}).status_code == 409
    wait_until(lambda: done_with(site, "refused") == ["refused"])


@rule("invalidate_routes.1", "invalidate_routes.2", "invalidate_routes.urls")
def test_invalidate_routes_1_sends_the_urls_of_a_dict_or_a_response(site: Site) -> None:
    dropped = site.act("drop")
    assert dropped.headers["x-fx-invalidate"] == "/a, /b"
    assert dropped.json() == {"ok": True, "dropped": True}
    response = site.act("drop_from_response")
    assert (response.status_code, response.headers["x-fx-invalidate"]) == (201, "/a, /b")
    assert response.json() == {"dropped": True}
    assert "x-fx-invalidate" not in site.act("drop_nothing").headers


@rule("tasks.enqueue", "tasks.3", "errors.7")
def test_tasks_enqueue_a_task_that_raises_stops_no_worker(site: Site) -> None:
    for number in range(3):  # one worker, which has to get past three failing tasks
        assert site.act("job", {"key": f"job {number}"}).json() == {"ok": True}
    wait_until(lambda: done_with(site, "job 2") == ["job"])


@rule("limits.2", "errors.6")
def test_limits_2_the_queue_is_bounded(site: Site) -> None:
    answer = site.act("flood").json()
    assert (answer["capacity"], 19 <= answer["given"] <= 21) == (20, True)
    wait_until(lambda: site.act("overflow").status_code == 503)


@rule("endpoints.action", "endpoints.note_1")
def test_endpoints_action_takes_the_page_path_and_the_name(site: Site) -> None:
    renamed = site.act("rename", {"to": "Z"}, page="items/a%20b")
    assert renamed.json() == {"ok": True, "id": "a b", "to": "Z"}
    assert site.act("echo", page="items/1").status_code == 404
    assert site.get("/api/__actions/index/echo").status_code == 405


@rule("endpoints.markdown", "markdown.to_markdown", "markdown.wrap_markdown")
def test_endpoints_markdown_comes_from_the_first_source_that_does_not_decline(site: Site) -> None:
    page = site.get("/items/7.md")
    assert page.text == "# Item 7 of /items/7\n\n-- /items/7"
    assert page.headers["content-type"] == "text/markdown; charset=utf-8"
    assert site.get("/items/bare.md").text == "# Item bare of /items/bare"
    assert site.get("/docs/guide.md").text.startswith("A document at /docs/guide")
    assert site.get("/items/gone.md").status_code == 410


@rule("endpoints.note_3")
def test_endpoints_note_3_without_a_source_the_page_itself(site: Site) -> None:
    declined = site.get("/items/none.md?a=1")
    assert declined.status_code == 307
    assert declined.headers["location"].endswith(f"{site.server.base}/items/none?a=1")


@rule("endpoints.llms_txt", "markdown.llms_context.pages", "markdown.page_info.fields")
def test_endpoints_llms_txt_is_what_the_hook_says(site: Site) -> None:
    listed, _, default = site.get("/llms.txt").text.partition("---\n")
    assert "Guide: /docs/guide.md" in listed.splitlines()
    assert default.startswith("# Probe")
    assert f"{site.server.base}/items" not in default  # a pattern is no page
    assert f"http://{site.place}{site.server.base}/docs/guide.md" in default


@rule("head.2b", "head.2c")
def test_head_2b_of_a_list_and_of_a_function(site: Site) -> None:
    assert re.findall("<title[^>]*>(.*?)</title>", site.get("/").text) == ["Probe"]
    assert re.findall("<title[^>]*>(.*?)</title>", site.get("/items/7").text) == ["Item 7"]


@rule("authentication.1", "authentication.2")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
    ],
)
def test_authentication_1_only_own_pages_may_act(
    site: Site, headers: dict[str, str], status: int
) -> None:
    response = site.post("/api/__actions/index/echo", json={"a": 1}, headers=headers)
    assert response.status_code == status
    assert response.json()["ok"] is (status == 200)


@rule("authentication.2b", "authentication.2c")
def test_authentication_2b_a_bare_client_brings_a_token(site: Site) -> None:
    token = site.get("/api/__csrf").json()["token"]
    path = "/api/__actions/index/echo"
    assert site.post(path, json={}, headers={"x-csrf-token": token}).status_code == 200
    assert site.post(path, json={}, headers={"x-csrf-token": token[:-1]}).status_code == 403
    assert site.post(path, data={"_csrf_token": token}).status_code == 200
    site.client.cookies.clear()
    assert site.post(path, json={}, headers={"x-csrf-token": token}).status_code == 403
