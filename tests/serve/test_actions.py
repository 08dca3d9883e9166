"""Actions: bodies, answers, errors, background tasks, plain forms."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from fx.testing import Client, open_app
from fxtrio.errors import ActionError
from tests.trees import page, write_tree

SHOP = """
    import attrs
    import dataclasses
    import trio
    from typing import TYPE_CHECKING
    from pydantic import BaseModel
    from starlette.responses import JSONResponse
    from fx.runtime import redirect

    if TYPE_CHECKING:
        from starlette.requests import Request

    done = []

    @server
    async def load(request):
        return {"message": request.method}

    @action
    async def echo(request):
        return {"got": await request.json(), "ok": "mine"}

    @attrs.frozen
    class Item:
        price: float
        name: str = attrs.field(validator=attrs.validators.min_len(1))

    @attrs.frozen
    class Order:
        items: list[Item]
        note: str = ""

    @action
    async def order(request, order: Order):
        return {"total": sum(item.price for item in order.items)}

    @dataclasses.dataclass
    class Point:
        x: int
        y: int = 0

    @action
    async def move(request: "Request", point: "Point"):
        return {"x": point.x, "y": point.y}

    class Person(BaseModel):
        name: str
        age: int = 0
        tags: list[str] = []

    @action
    async def greet(request, person: Person):
        return {"hello": person.name, "age": person.age, "tags": person.tags}

    @action
    async def maybe(request, person: Person | None = None):
        return {"given": person is not None}

    @action
    async def refuse(request):
        raise ActionError("no", 409, {"left": 3}, fields={"name": ["taken"]})

    @action
    async def invalid(request):
        raise ValidationActionError(fields={"email": ["is taken"]})

    @action
    async def one_word(request):
        raise ValidationActionError(fields={"email": "is taken"})

    @action
    async def crash(request):
        return {"x": 1 / 0}

    @action
    async def wrong(request):
        return ["no dict"]

    @action
    async def unserializable(request):
        return {"a": [object()]}

    @action
    async def evict(request):
        return invalidate_routes({"n": 1}, "/", "", "/list?p=2", "/")

    @action
    async def evict_response(request):
        return invalidate_routes(JSONResponse({"ok": True, "n": 2}, 201), "/", "/x")

    @action
    async def away(request):
        return redirect("/thanks")

    @action
    async def evict_and_leave(request):
        if (await request.json()).get("raises"):
            raise invalidate_routes(redirect("/thanks"), "/list")
        return invalidate_routes(invalidate_routes(redirect("/thanks"), "/list"), "/", "/list")

    async def job(name):
        done.append(name)

    async def broken():
        raise ValueError("the first task fails")

    @action
    async def later(request):
        request.state.background.add_task(broken)
        request.state.background.add_task(job, "added")
        return {"background": [job, "shorthand"], "kept": 1}

    @action
    async def report(request):
        return {"done": list(done)}

    @action
    async def color(request):
        return {"background": "red"}

    @action(timeout=3)
    async def slow(request):
        await trio.sleep(60)
        return {}

    @action
    async def write(request):
        await trio.sleep(5)
        done.append("written")
        return {}

    @action(cancel_on_disconnect=True)
    async def cancellable(request):
        try:
            await trio.sleep(5)
        finally:
            done.append("left" if trio.current_effective_deadline() < trio.current_time() else "?")

    async def helper(request):
        return {}
    """


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": page(SHOP),
            "pages/things/[id].fxl": page(
                """
            @action
            async def show(request):
                return {"id": request.path_params["id"]}
            """
            ),
        },
    )
    async with open_app(tmp_path, mode="production") as opened:
        yield opened


async def test_success_is_ok_with_the_returned_keys_and_ok_is_reserved(client: Client) -> None:
    response = await client.post("/api/__actions/index/echo", json={"a": [1]})
    assert response.status == 200
    assert response.json() == {"ok": True, "got": {"a": [1]}}


async def test_parameters_of_the_page_arrive_as_path_params(client: Client) -> None:
    result = await client.action("/things/7", "show")
    assert result.data == {"id": "7"}


@pytest.mark.parametrize(
    "url",
    [
        "/api/__actions/index/nope",
        "/api/__actions/nowhere/echo",
        "/api/__actions/index/helper",
        "/api/__actions/index/load",
        "/api/__actions/index/job",
        "/api/__actions/index/__class__",
        "/api/__actions/echo",
        "/api/__actions//echo",
        "/api/__actions/things/1/echo",
    ],
)
async def test_only_marked_functions_of_that_page_are_reachable(client: Client, url: str) -> None:
    response = await client.post(url, json={})
    assert response.status == 404
    assert response.json() == {"ok": False, "error": "Action not found"}


async def test_actions_answer_post_only(client: Client) -> None:
    response = await client.get("/api/__actions/index/echo")
    assert (response.status, response.headers["allow"]) == (405, "POST")
    assert response.json()["ok"] is False


async def test_urlencoded_and_multipart_bodies_read_like_json(client: Client) -> None:
    urlencoded = await client.post(
        "/api/__actions/index/echo", data=[("a", "1"), ("b", "2"), ("b", "3")]
    )
    boundary = "x" * 20
    multipart = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in [("a", "1"), ("b", "2"), ("b", "3")]
    )
    response = await client.post(
        "/api/__actions/index/echo",
        content=f"{multipart}--{boundary}--\r\n".encode(),
        headers={"content-type": f"multipart/form-data; boundary={boundary}"},
    )
    assert urlencoded.json()["got"] == {"a": "1", "b": ["2", "3"]}
    assert response.json()["got"] == {"a": "1", "b": ["2", "3"]}


async def test_bad_json_is_a_400_for_an_untyped_action(client: Client) -> None:
    response = await client.post("/api/__actions/index/echo", content=b"{nope")
    assert response.status == 400
    assert response.json()["ok"] is False
    assert "fields" not in response.json()


@pytest.mark.parametrize("body", [b"{nope", b"", b"[1]", b"NaN", b"[" * 100_000])
async def test_a_body_that_is_not_an_object_is_a_422_at_the_root_for_a_typed_one(
    client: Client, body: bytes
) -> None:
    for name in ("greet", "order", "move"):
        response = await client.post(f"/api/__actions/index/{name}", content=body)
        assert response.status == 422
        assert response.json()["error"] == "Validation failed"
        assert list(response.json()["fields"]) == ["__root__"]


async def test_a_typed_body_is_an_attrs_class_a_dataclass_or_a_pydantic_model(
    client: Client,
) -> None:
    order = {"items": [{"price": 1.5, "name": "a"}, {"price": 2, "name": "b"}]}
    assert (await client.action("/", "order", order)).data == {"total": 3.5}
    assert (await client.action("/", "move", {"x": 4})).data == {"x": 4, "y": 0}
    assert (await client.action("/", "greet", {"name": "Ann"})).data["hello"] == "Ann"


async def test_every_problem_of_a_body_is_reported_by_its_path(client: Client) -> None:
    order = await client.action("/", "order", {"items": [{"price": "x", "name": ""}, {}]})
    person = await client.action("/", "greet", {"age": "old", "tags": [1]})
    assert order.status == person.status == 422
    assert order.fields == {
        "items.0.price": ["Expected a number"],
        "items.0.name": ["Length must be >= 1"],
        "items.1.price": ["Field required"],
        "items.1.name": ["Field required"],
    }
    assert set(person.fields) == {"name", "age", "tags.0"}


async def test_form_values_are_read_as_what_the_field_asks_for(client: Client) -> None:
    response = await client.post(
        "/api/__actions/index/greet", data={"name": "Ann", "age": "41", "tags": "one"}
    )
    moved = await client.post("/api/__actions/index/move", data={"x": "4"})
    assert response.json() == {"ok": True, "hello": "Ann", "age": 41, "tags": ["one"]}
    assert moved.json()["x"] == 4


async def test_an_optional_body_may_be_empty(client: Client) -> None:
    response = await client.post("/api/__actions/index/maybe")
    assert response.json() == {"ok": True, "given": False}
    assert (await client.action("/", "maybe", {"name": "Ann"})).data == {"given": True}


async def test_an_action_error_carries_status_data_and_fields(client: Client) -> None:
    response = await client.post("/api/__actions/index/refuse", json={})
    assert response.status == 409
    assert response.json() == {
        "ok": False,
        "error": "no",
        "data": {"left": 3},
        "fields": {"name": ["taken"]},
    }


async def test_a_validation_action_error_is_a_422_with_fields(client: Client) -> None:
    response = await client.post("/api/__actions/index/invalid", json={})
    assert response.status == 422
    assert response.json() == {
        "ok": False,
        "error": "Validation failed",
        "fields": {"email": ["is taken"]},
    }


async def test_a_field_with_a_message_instead_of_a_list_gets_a_list_of_one(client: Client) -> None:
    assert (await client.action("/", "one_word")).fields == {"email": ["is taken"]}
    fields: Any = {"a": ["x", "y"], "b": "z"}
    assert ActionError("no", fields=fields).fields == {"a": ["x", "y"], "b": ["z"]}


@pytest.mark.parametrize(
    ("mode", "returned", "warned"),
    [
        ("development", "False", True),
        ("development", "'mine'", True),
        ("development", "True", False),
        ("production", "False", False),
    ],
)
async def test_in_development_the_log_warns_of_a_returned_ok_that_is_not_sent(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: Any, returned: str, warned: bool
) -> None:
    python = f"""
        @action
        async def act(request):
            return {{"ok": {returned}, "n": 1}}
        """
    write_tree(tmp_path, {"pages/index.fxl": page(python)})
    async with open_app(tmp_path, mode=mode) as client:
        answer = await client.post("/api/__actions/index/act", json={})
    assert answer.json() == {"ok": True, "n": 1}
    warnings = [r.getMessage() for r in caplog.records if r.name == "fx.serve"]
    message = (
        f"pages/index.fxl: act(): returned 'ok': {returned}, which is sent as true: 'ok' is "
        "reserved. Raise ActionError for a failure, or choose another key."
    )
    assert warnings == ([message] if warned else [])


@pytest.mark.parametrize(
    ("name", "logged"),
    [
        ("crash", "ZeroDivisionError"),
        ("wrong", "['no dict'] (list)"),
        ("unserializable", "a[0]"),
    ],
)
async def test_a_defect_is_a_500_in_the_same_shape_and_logged(
    client: Client, caplog: pytest.LogCaptureFixture, name: str, logged: str
) -> None:
    response = await client.post(f"/api/__actions/index/{name}", json={})
    assert response.status == 500
    assert response.json() == {"ok": False, "error": "An unexpected error occurred."}
    assert response.headers["x-request-id"]
    assert response.headers["x-content-type-options"] == "nosniff"
    assert logged in caplog.text


async def test_invalidated_routes_travel_in_a_header(client: Client) -> None:
    of_dict = await client.post("/api/__actions/index/evict", json={})
    of_response = await client.post("/api/__actions/index/evict_response", json={})
    assert of_dict.headers["x-fx-invalidate"] == "/, /list?p=2"
    assert of_dict.json() == {"ok": True, "n": 1}
    assert of_response.headers["x-fx-invalidate"] == "/, /x"
    assert (of_response.status, of_response.json()) == (201, {"ok": True, "n": 2})


async def test_background_tasks_run_after_the_response_each_apart_from_the_others(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    result = await client.action("/", "later")
    await wait_all_tasks_blocked()
    report = await client.action("/", "report")
    assert result.data == {"kept": 1}
    assert set(report.data["done"]) == {"added", "shorthand"}
    assert "the first task fails" in caplog.text


async def test_a_background_key_that_names_no_function_is_an_error(client: Client) -> None:
    result = await client.action("/", "color")
    assert (result.status, result.data) == (500, {})


async def test_a_body_above_the_limit_is_a_413_also_when_it_is_chunked(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(SHOP)})
    async with open_app(tmp_path, limits={"body": 10}) as client:
        declared = await client.post(
            "/api/__actions/index/echo", content=b"", headers={"content-length": "11"}
        )
        chunked = await client.post("/api/__actions/index/echo", content=b"x" * 11)
    assert declared.status == chunked.status == 413
    assert chunked.json() == {"ok": False, "error": "The body is larger than 10 bytes."}


async def test_an_action_past_its_deadline_is_a_504(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(SHOP)})
    async with open_app(tmp_path) as client:
        result = await client.action("/", "slow")
        assert (result.status, result.ok) == (504, False)
        assert trio.current_time() == 3


async def test_an_action_runs_to_its_end_when_its_client_leaves(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(SHOP)})
    async with open_app(tmp_path) as client:
        await _leave_after_one_second(client, "write")
        assert (await client.action("/", "report")).data == {"done": ["written"]}


async def test_an_action_may_ask_to_be_cancelled_when_its_client_leaves(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(SHOP)})
    async with open_app(tmp_path) as client:
        await _leave_after_one_second(client, "cancellable")
        assert (await client.action("/", "report")).data == {"done": ["left"]}
        assert trio.current_time() < 5


async def _leave_after_one_second(client: Client, name: str) -> None:
    scope = client.scope("http", f"/api/__actions/index/{name}", None)
    scope["method"] = "POST"
    left = trio.Event()
    body = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive():
        for message in body:
            return message
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message) -> None:
        pass

    async with trio.open_nursery() as nursery:
        nursery.start_soon(client.app, scope, receive, send)
        await trio.sleep(1)
        left.set()


async def test_a_redirect_names_what_clients_forget_returned_or_raised(client: Client) -> None:
    returned = await client.post("/api/__actions/index/evict_and_leave", json={})
    raised = await client.post("/api/__actions/index/evict_and_leave", json={"raises": True})
    assert returned.json() == raised.json() == {"ok": True, "redirect": "/thanks"}
    assert returned.headers["x-fx-invalidate"] == "/list, /"
    assert raised.headers["x-fx-invalidate"] == "/list"


async def test_a_form_without_javascript_goes_back_to_its_page_after_success(
    client: Client,
) -> None:
    response = await client.post(
        "/api/__actions/index/greet",
        data={"name": "Ann"},
        headers={"accept": "text/html", "referer": "http://testserver/?page=2"},
    )
    redirected = await client.post(
        "/api/__actions/index/away", data={"a": "1"}, headers={"accept": "text/html"}
    )
    assert (response.status, response.headers["location"]) == (303, "/?page=2")
    assert (redirected.status, redirected.headers["location"]) == (303, "/thanks")


async def test_a_form_without_javascript_gets_its_page_again_after_a_failure(
    client: Client,
) -> None:
    response = await client.post(
        "/api/__actions/index/greet", data={"age": "x"}, headers={"accept": "text/html"}
    )
    assert response.status == 422
    assert response.headers["content-type"].startswith("text/html")
    assert '"actionData":{"action":"greet","ok":false' in response.text
    assert '"requestedPath":"/"' in response.text
    assert '"message":"GET"' in response.text


async def test_a_form_of_nothing_but_separators_is_rejected_at_once(client: Client) -> None:
    response = await client.post(
        "/api/__actions/index/echo",
        content=b"&" * 100_000,
        headers={"content-type": "application/x-www-form-urlencoded"},
    )
    assert (response.status, response.json()["ok"]) == (400, False)
