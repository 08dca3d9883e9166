"""`LoaderError`, `ActionError`, `ValidationActionError`: constructors, attributes, effects."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fx.runtime import ActionError, LoaderError, ValidationActionError, redirect
from fx.tasks import TaskQueueFull
from fxtrio.errors import BodyTooLarge, ExtraMissing
from tests.built import open_built
from tests.contract.projects import open_pages
from tests.contract.rules import rule

Fields = dict[str, list[str]]


def parameters(function: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    found = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, each.default) for each in found]


async def load_with(root: Path, arguments: str, **settings: Any) -> dict[str, Any]:
    """Return the navigation payload of a page whose loader raises."""
    text = f"""
    @server
    async def load(request):
        raise LoaderError({arguments})
    """
    async with open_pages(root, {"index": text, "error": ""}, **settings) as client:
        loaded = await client.load_page("/")
    assert loaded.payload["boundary"] == "pages/error.fxl"
    return {**loaded.payload, "http": loaded.status}


async def act_with(root: Path, error: str) -> tuple[int, dict[str, Any]]:
    """Return status and body of an action that raises."""
    text = f"""
    @action
    async def act(request):
        raise {error}
    """
    async with open_pages(root, text) as client:
        response = await client.post("/api/__actions/index/act", json={})
    return response.status, response.json()


@rule("loader_error.constructor")
def test_loader_error_constructor_takes_message_status_and_data() -> None:
    def expected(message: str, status_code: int = 500, data: Any = None) -> None: ...

    assert parameters(LoaderError) == parameters(expected)
    assert issubclass(LoaderError, Exception)
    with pytest.raises(TypeError):
        LoaderError()  # type: ignore[call-arg]  # what is tested


@pytest.mark.node
@rule("loader_error.message")
async def test_loader_error_message_reaches_the_error_boundary(tour: Path) -> None:
    async with open_built(tour) as client:
        response = await client.get("/broken/sold%20out%20%3Cb%3E")
    heading = re.search("<h1>(.*?)</h1>", response.text)
    assert heading is not None
    assert heading[1] == "sold out &lt;b&gt;"


@rule("loader_error.status_code")
@pytest.mark.parametrize(
    ("arguments", "status"), [('"x"', 500), ('"x", 404', 404), ('"x", status_code=410', 410)]
)
async def test_loader_error_status_code_is_the_http_status(
    tmp_path: Path, arguments: str, status: int
) -> None:
    payload = await load_with(tmp_path, arguments)
    assert (payload["http"], payload["statusCode"]) == (status, status)


@rule("loader_error.data")
async def test_loader_error_data_reaches_the_boundary_as_json(tmp_path: Path) -> None:
    data = {"sku": 7, "left": [None, 1.5], "at": {"shop": "é"}}
    payload = await load_with(tmp_path, f'"x", 409, {data!r}')
    assert payload["data"] == data
    assert payload["props"]["data"] == {}


@rule("loader_error.data")
async def test_loader_error_data_that_is_not_json_is_a_500_in_every_form(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    payload = await load_with(tmp_path, '"x", 409, {"rows": [object()]}')
    text = (tmp_path / "pages/index.fxl").read_text()
    async with open_pages(tmp_path / "html", {"pages/index.fxl": text, "error": ""}) as client:
        document = await client.get("/")
    assert (payload["http"], payload["type"], document.status) == (500, "ServerError", 500)
    assert "data.rows[0]" in caplog.text


@rule("loader_error.properties")
def test_loader_error_properties_are_the_arguments_of_its_constructor() -> None:
    plain, full = LoaderError("gone"), LoaderError("gone", 410, {"id": 5})
    assert (plain.message, plain.status_code, plain.data) == ("gone", 500, {})
    assert (full.message, full.status_code, full.data) == ("gone", 410, {"id": 5})
    assert LoaderError("gone", data=None).data == {}
    assert "gone" in str(plain)


@rule("action_error.constructor")
def test_action_error_constructor_takes_fields_by_name_only() -> None:
    def expected(
        message: str, status_code: int = 400, data: Any = None, *, fields: Any = None
    ) -> None: ...

    assert parameters(ActionError) == parameters(expected)
    with pytest.raises(TypeError):
        ActionError("x", 400, None, {})  # type: ignore[call-arg]  # what is tested


@rule("action_error.message")
async def test_action_error_message_is_sent_to_the_client(tmp_path: Path) -> None:
    answer = await act_with(tmp_path, 'ActionError("Sold out <b>")')
    assert answer == (400, {"ok": False, "error": "Sold out <b>"})


@rule("action_error.status_code")
@pytest.mark.parametrize(("arguments", "status"), [("'x'", 400), ("'x', 409", 409)])
async def test_action_error_status_code_is_the_http_status(
    tmp_path: Path, arguments: str, status: int
) -> None:
    assert (await act_with(tmp_path, f"ActionError({arguments})"))[0] == status


@rule("action_error.data")
async def test_action_error_data_is_sent_as_json(tmp_path: Path) -> None:
    _, body = await act_with(tmp_path, 'ActionError("x", data={"left": [3, None]})')
    assert body == {"ok": False, "error": "x", "data": {"left": [3, None]}}


@rule("action_error.fields")
async def test_action_error_fields_reach_the_client_as_fields(tmp_path: Path) -> None:
    fields = {"items.0.price": ["too low", "odd"], "name": ["taken"]}
    _, body = await act_with(tmp_path, f'ActionError("x", fields={fields!r})')
    assert body == {"ok": False, "error": "x", "fields": fields}


@rule("action_error.properties")
def test_action_error_properties_are_the_arguments_of_its_constructor() -> None:
    plain = ActionError("no")
    full = ActionError("no", 409, {"id": 5}, fields={"a": ["b"]})
    assert (plain.message, plain.status_code, plain.data, plain.fields) == ("no", 400, {}, {})
    assert (full.status_code, full.data, full.fields) == (409, {"id": 5}, {"a": ["b"]})


@rule("validation_error.constructor")
def test_validation_error_constructor_makes_an_action_error() -> None:
    def expected(
        message: str = "Validation failed",
        *,
        fields: Fields,
        status_code: int = 422,
        data: Any = None,
    ) -> None: ...

    assert parameters(ValidationActionError) == parameters(expected)
    assert issubclass(ValidationActionError, ActionError)


@rule("validation_error.message")
def test_validation_error_message_has_a_default() -> None:
    assert ValidationActionError(fields={}).message == "Validation failed"
    assert ValidationActionError("Look again", fields={}).message == "Look again"


@rule("validation_error.fields")
def test_validation_error_fields_is_required_and_keyword_only() -> None:
    assert ValidationActionError(fields={"a": ["b"]}).fields == {"a": ["b"]}
    with pytest.raises(TypeError):
        ValidationActionError()  # type: ignore[call-arg]  # what is tested
    with pytest.raises(TypeError):
        ValidationActionError("x", {})  # type: ignore[call-arg]  # what is tested


@rule("validation_error.status_code")
@pytest.mark.parametrize(("more", "status"), [("", 422), (", status_code=409", 409)])
async def test_validation_error_status_code_is_the_http_status(
    tmp_path: Path, more: str, status: int
) -> None:
    error = f'ValidationActionError(fields={{"a": ["b"]}}{more})'
    answer = await act_with(tmp_path, error)
    body = {"ok": False, "error": "Validation failed", "fields": {"a": ["b"]}}
    assert answer == (status, body)


@rule("validation_error.data")
async def test_validation_error_data_is_sent_as_json(tmp_path: Path) -> None:
    error = 'ValidationActionError(fields={"a": ["b"]}, data={"hint": [1]})'
    assert (await act_with(tmp_path, error))[1]["data"] == {"hint": [1]}
    assert ValidationActionError(fields={}).data == {}


TYPED = """
    from pydantic import BaseModel

    class Body(BaseModel):
        name: str

    @action
    async def save(request, body: Body):
        if body.name == "taken":
            raise ValidationActionError(fields={"name": ["is taken"]})
        return {}
"""


@rule("validation_error.automatic", "validation_error.by_user")
async def test_validation_error_automatic_and_the_users_own_look_the_same(tmp_path: Path) -> None:
    async with open_pages(tmp_path, TYPED) as client:
        automatic = await client.action("/", "save", {})
        by_user = await client.action("/", "save", {"name": "taken"})
        fine = await client.action("/", "save", {"name": "free"})
    assert (automatic.status, automatic.error) == (by_user.status, by_user.error)
    assert (automatic.status, automatic.error) == (422, "Validation failed")
    assert (list(automatic.fields), by_user.fields) == (["name"], {"name": ["is taken"]})
    assert (fine.ok, fine.fields) == (True, {})


@rule("validation_error.by_user")
def test_validation_error_by_user_can_be_caught_as_an_action_error() -> None:
    with pytest.raises(ActionError) as caught:
        raise ValidationActionError("Dates overlap", fields={"end": ["before the start"]})
    assert json.dumps(caught.value.fields) == '{"end": ["before the start"]}'


@pytest.mark.parametrize(
    "error",
    [
        LoaderError("gone", 410, {"id": 5}),
        ActionError("no", 409, {"left": 3}, fields={"n": ["taken"]}),
        ValidationActionError("look", fields={"n": ["odd"]}, status_code=400),
        redirect("/x", 307),
        TaskQueueFull("send_mail()", 7),
        BodyTooLarge(1000),
        ExtraMissing("here", "redis", "coredis"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize(
    "remake",
    [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy],
    ids=["pickle", "copy", "deepcopy"],
)
def test_errors_can_be_pickled_and_copied(error: Exception, remake: Any) -> None:
    error.add_note("a note")
    copied = remake(error)
    assert type(copied) is type(error)
    assert (str(copied), copied.args, vars(copied)) == (str(error), error.args, vars(error))


@rule("validation_error.fields")
async def test_validation_error_fields_are_sent_when_they_are_empty_too(
    tmp_path: Path,
) -> None:
    text = "@action\nasync def act(request):\n    raise ValidationActionError('no', fields={})"
    async with open_pages(tmp_path, text) as client:
        response = await client.post("/api/__actions/index/act", json={})
    assert response.json() == {"ok": False, "error": "no", "fields": {}}


@pytest.mark.parametrize(
    ("raised", "cause"),
    [
        ("ActionError({'x': 1})", "the message is {'x': 1} (dict)"),
        ("ActionError(None)", "the message is None (NoneType)"),
        ("ActionError('no', fields={'n': [1, None]})", "'fields' is {'n': [1, None]} (dict)"),
        ("ActionError('no', fields={'n': 5})", "'fields' is {'n': 5} (dict)"),
        ("ActionError('no', fields={5: ['x']})", "'fields' is {5: ['x']} (dict)"),
        ("ActionError('no', fields=['n'])", "'fields' is ['n'] (list)"),
        ("ValidationActionError(fields=None)", ""),
        ("ActionError('no', data=[1])", "'data' is [1] (list)"),
        ("LoaderError(5)", "the message is 5 (int)"),
    ],
)
async def test_an_error_that_cannot_be_sent_is_an_error_that_names_the_place(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, raised: str, cause: str
) -> None:
    text = f"@action\nasync def act(request):\n    raise {raised}"
    text = f"from fx.runtime import LoaderError\n\n{text}"
    async with open_pages(tmp_path, text) as client:
        response = await client.post("/api/__actions/index/act", json={})
    if cause:
        assert response.status == 500
        assert response.json() == {"ok": False, "error": "An unexpected error occurred."}
        assert f"pages/index.fxl: act(): raised {raised.split('(')[0]}: {cause}. " in caplog.text
    else:
        assert response.json()["fields"] == {}
