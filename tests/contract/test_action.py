"""Actions, their typed bodies and what they leave to be done."""

from __future__ import annotations

import inspect
import sys
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
import trio

from fx.runtime import action
from fx.testing import Client
from fxtrio.compile.problems import CompileFailed
from tests.contract.projects import exchange, open_pages, problems_of
from tests.contract.rules import rule


@rule("action.1")
def test_action_1_the_function_is_marked_and_stays_itself() -> None:
    async def save(request: Any) -> dict[str, Any]:
        return {}

    before = dict(vars(save))
    assert action(save) is save
    assert action(timeout=2, cancel_on_disconnect=True)(save) is save
    assert save.__fx_action__ is True  # type: ignore[attr-defined]  # the mark
    assert (before, inspect.iscoroutinefunction(save)) == ({}, True)


SYNC = """
    @action
    def save(request):
        return {}
"""
RETURNS = """
    from starlette.requests import Request

    @action
    async def save(request):
        assert isinstance(request, Request)
        return {value}
"""


@rule("action.2")
async def test_action_2_must_be_async(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path, SYNC)
    assert problem.startswith("pages/index.fxl:2:5: @action 'save' is not async")
    with pytest.raises(CompileFailed, match="is not async"):
        async with open_pages(tmp_path, SYNC):
            raise AssertionError("must not start")


@rule("action.2")
async def test_action_2_receives_the_request_and_returns_a_dict(tmp_path: Path) -> None:
    value = '{"sent": await request.json(), "type": request.headers["content-type"]}'
    async with open_pages(tmp_path, RETURNS.format(value=value)) as client:
        result = await client.action("/", "save", {"a": [1, None]})
    assert result.data == {"sent": {"a": [1, None]}, "type": "application/json"}


@rule("action.2")
@pytest.mark.parametrize("value", ["None", "[1]", "'text'", "({}, 201)", "{'a': object()}"])
async def test_action_2_anything_but_a_json_dict_is_an_error(
    tmp_path: Path, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_pages(tmp_path, RETURNS.format(value=value)) as client:
        result = await client.action("/", "save")
    assert (result.status, result.ok) == (500, False)
    assert "pages/index.fxl: save()" in caplog.text


@rule("action.3")
async def test_action_3_a_file_may_have_several(tmp_path: Path) -> None:
    names = [f"act_{number}" for number in range(5)]
    text = "".join(RETURNS.replace("save", n).format(value=f'{{"n": "{n}"}}') for n in names)
    async with open_pages(tmp_path, text) as client:
        assert [(await client.action("/", n)).data for n in names] == [{"n": n} for n in names]


MODEL = """
    import pydantic

    ran = []

    class Item(pydantic.BaseModel):
        price: float

    class Order(pydantic.BaseModel):
        name: str
        items: list[Item] = []

    @action
    async def order(request, order: Order):
        ran.append(order)
        return {"type": type(order).__name__, "total": sum(item.price for item in order.items)}

    @action
    async def runs(request):
        return {"runs": len(ran)}
"""


@rule("action.4", "action.4b")
async def test_action_4_a_parameter_with_a_model_gets_the_parsed_body(tmp_path: Path) -> None:
    async with open_pages(tmp_path, MODEL) as client:
        body = {"name": "Ann", "items": [{"price": "1.5"}, {"price": 2}]}
        result = await client.action("/", "order", body)
    assert result.data == {"type": "Order", "total": 3.5}


@rule("action.4")
async def test_action_4_is_optional_and_has_any_name(tmp_path: Path) -> None:
    text = MODEL.replace("order: Order", "whatever: 'Order'").replace("(order)", "(whatever)")
    text = text.replace("order.items", "whatever.items")
    async with open_pages(tmp_path, text) as client:
        assert (await client.action("/", "order", {"name": "Ann"})).data["type"] == "Order"
        assert (await client.action("/", "runs", {"any": "body"})).data == {"runs": 1}


@rule("action.4b")
async def test_action_4b_forms_are_parsed_into_the_model_too(tmp_path: Path) -> None:
    async with open_pages(tmp_path, MODEL) as client:
        response = await client.post("/api/__actions/index/order", data={"name": "Ann"})
    assert response.json() == {"ok": True, "type": "Order", "total": 0}


@rule("action.4c")
def test_action_4c_pydantic_is_an_extra_of_the_package() -> None:
    needed = [line for line in requires("fxtrio") or [] if line.startswith("pydantic")]
    assert [line for line in needed if "extra ==" not in line] == []
    assert any('extra == "pydantic"' in line.replace("'", '"') for line in needed)


CLASSES = """
    import attrs
    import dataclasses

    @attrs.frozen
    class Point:
        x: int

    @dataclasses.dataclass
    class Size:
        width: int

    @action
    async def move(request, point: Point):
        return {"type": type(point).__name__, "x": point.x}

    @action
    async def resize(request, size: Size):
        return {"type": type(size).__name__, "width": size.width}
"""


@rule("action.4c", "action.4d")
async def test_action_4c_without_the_extra_only_pydantic_models_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0].startswith("pydantic")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pydantic", None)
    async with open_pages(tmp_path / "classes", CLASSES) as client:
        assert (await client.action("/", "move", {"x": 1})).data == {"type": "Point", "x": 1}
    with pytest.raises(ImportError, match="pydantic"):
        async with open_pages(tmp_path / "model", MODEL):
            raise AssertionError("must not start")


@rule("action.4d")
async def test_action_4d_attrs_classes_and_dataclasses_are_models(tmp_path: Path) -> None:
    async with open_pages(tmp_path, CLASSES) as client:
        moved = await client.action("/", "move", {"x": 1})
        resized = await client.action("/", "resize", {"width": 2})
        rejected = [await client.action("/", name, {}) for name in ("move", "resize")]
    assert moved.data == {"type": "Point", "x": 1}
    assert resized.data == {"type": "Size", "width": 2}
    assert [(each.status, list(each.fields)) for each in rejected] == [
        (422, ["x"]),
        (422, ["width"]),
    ]


@rule("action.4e")
@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"name"}),
        ({"name": 1, "items": [{"price": 1}, {"price": "x"}]}, {"name", "items.1.price"}),
        ({"name": "Ann", "items": {}}, {"items"}),
    ],
)
async def test_action_4e_a_body_that_fails_is_a_422_with_fields_and_nothing_runs(
    tmp_path: Path, body: dict[str, Any], fields: set[str]
) -> None:
    async with open_pages(tmp_path, MODEL) as client:
        result = await client.action("/", "order", body)
        assert (await client.action("/", "runs")).data == {"runs": 0}
    assert (result.status, result.ok, set(result.fields)) == (422, False, fields)
    assert all(messages and all(messages) for messages in result.fields.values())


LATER = """
    from starlette.background import BackgroundTasks

    def note(state, what):
        state.log.append(what)

    async def note_last(state, what):
        state.log.append(what)
        state.done.set()

    @action
    async def add(request):
        state = request.app.state
        assert isinstance(request.state.background, BackgroundTasks)
        request.state.background.add_task(note, state, "plain task")
        request.state.background.add_task(note_last, state, "async task")
        state.log.append("action")
        return {}

    @action
    async def shorthand(request):
        state = request.app.state
        state.log.append("action")
        return {"background": [note_last, state, "task"], "kept": 1}
"""


async def _log_of(client: Client, name: str) -> list[str]:
    """Return what happened in which order when an action and its tasks ran."""
    log = client.app.state.log = list[str]()
    client.app.state.done = trio.Event()
    scope = client.scope("http", f"/api/__actions/index/{name}", None)
    scope["method"] = "POST"
    await exchange(client, scope, log)
    with trio.fail_after(5):
        await client.app.state.done.wait()
    return log


@rule("action.5")
async def test_action_5_added_tasks_run_after_the_response_is_sent(tmp_path: Path) -> None:
    async with open_pages(tmp_path, LATER) as client:
        log = await _log_of(client, "add")
    assert log == ["action", "response", "plain task", "async task"]


@rule("action.5b")
async def test_action_5b_a_background_key_is_shorthand_for_one_task(tmp_path: Path) -> None:
    async with open_pages(tmp_path, LATER) as client:
        assert await _log_of(client, "shorthand") == ["action", "response", "task"]
        assert (await client.action("/", "shorthand")).data == {"kept": 1}


PROMISES = """
    import trio
    from pydantic import BaseModel
    from starlette.responses import JSONResponse
    from fx.runtime import redirect

    async def note(state):
        state.log.append("task")
        state.done.set()

    @action(timeout=0.5)
    async def promise(request):
        state = request.app.state
        state.log.append("action")
        request.state.background.add_task(note, state)
        how = request.query_params["how"]
        if how == "action":
            raise ActionError("no")
        if how == "validation":
            raise ValidationActionError(fields={})
        if how == "redirect":
            raise redirect("/x")
        if how == "defect":
            raise KeyError("x")
        if how == "exit":
            raise SystemExit(1)
        if how == "group":
            async with trio.open_nursery() as nursery:
                nursery.start_soon(raising)
        if how == "late":
            await trio.sleep_forever()
        if how == "tuple":
            return ({}, 201)
        if how == "malformed":
            return {"background": "x"}
        return JSONResponse({})

    async def raising():
        raise ActionError("no")
"""


@rule("action.5")
@pytest.mark.parametrize(
    "how",
    ["action", "validation", "redirect", "defect", "exit", "group", "late", "tuple", "malformed"],
)
async def test_action_5_added_tasks_run_whatever_the_action_answers(
    tmp_path: Path, how: str, autojump_clock: object
) -> None:
    async with open_pages(tmp_path, PROMISES) as client:
        assert await _log_of(client, f"promise?how={how}") == ["action", "response", "task"]


@rule("action.5b")
@pytest.mark.parametrize(
    "value", ["'x'", "[]", "[1, 2]", "None", "{'f': 1}", "print", "[None]", "('print',)"]
)
async def test_action_5b_a_malformed_background_is_an_error_at_its_place(
    tmp_path: Path, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    text = f"@action\nasync def act(request):\n    return {{'background': {value}, 'n': 1}}"
    async with open_pages(tmp_path, text) as client:
        response = await client.post("/api/__actions/index/act", json={})
    assert response.status == 500
    assert response.json() == {"ok": False, "error": "An unexpected error occurred."}
    assert "pages/index.fxl: act(): the background task is " in caplog.text
    assert "Return [function, *arguments]" in caplog.text


@rule("action.5")
async def test_action_5_a_task_that_cannot_be_called_is_an_error_at_its_place(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = """
    @action
    async def act(request):
        request.state.background.add_task("send_mail", 5)
        return {}
    """
    async with open_pages(tmp_path, text) as client:
        assert (await client.post("/api/__actions/index/act", json={})).status == 500
    assert "pages/index.fxl: act(): the background task is 'send_mail' (str)" in caplog.text


@rule("bodies.use_action")
@pytest.mark.parametrize(
    ("answer", "data"),
    [
        ("JSONResponse({'n': 1})", {"n": 1}),
        ("Response(status_code=204)", {}),
        ("Response('done')", {}),
        ("JSONResponse([1], 201)", {}),
    ],
)
async def test_bodies_use_action_in_tests_a_2xx_response_without_ok_is_a_success(
    tmp_path: Path, answer: str, data: dict[str, Any]
) -> None:
    text = f"""
    from starlette.responses import JSONResponse, Response

    @action
    async def act(request):
        return invalidate_routes({answer}, "/x")
    """
    async with open_pages(tmp_path, text) as client:
        result = await client.action("/", "act")
    assert (result.ok, result.data, result.headers["x-fx-invalidate"]) == (True, data, "/x")
