"""Loaders."""

from __future__ import annotations

import inspect
import types
from pathlib import Path
from typing import Any

import pytest

from fx.runtime import server
from fxtrio.compile.problems import CompileFailed
from tests.contract.projects import open_pages, problems_of
from tests.contract.rules import rule


@rule("loader.1")
def test_loader_1_the_function_is_marked_and_stays_itself() -> None:
    async def load(request: Any) -> dict[str, Any]:
        return {}

    before = dict(vars(load))
    assert server(load) is load
    assert server(timeout=2)(load) is load
    assert load.__fx_loader__ is True  # type: ignore[attr-defined]  # the mark
    assert (before, inspect.iscoroutinefunction(load)) == ({}, True)


@rule("loader.1")
async def test_loader_1_other_code_of_the_page_can_call_it(tmp_path: Path) -> None:
    text = """
    @server
    async def load(request):
        return {"n": 2}

    @action
    async def again(request):
        return {**await load(None), "type": type(load).__name__, "mark": load.__fx_loader__}
    """
    async with open_pages(tmp_path, text) as client:
        result = await client.action("/", "again")
    assert result.data == {"n": 2, "type": types.FunctionType.__name__, "mark": True}


SYNC = """
    @server
    def load(request):
        return {}
"""


@rule("loader.2")
async def test_loader_2_must_be_async_which_the_compiler_enforces(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path, SYNC)
    assert problem.startswith("pages/index.fxl:2:5: @server 'load' is not async")
    with pytest.raises(CompileFailed, match="is not async"):
        async with open_pages(tmp_path, SYNC):
            raise AssertionError("must not start")


@rule("loader.3")
async def test_loader_3_receives_an_asgi_request(tmp_path: Path) -> None:
    text = """
    from starlette.requests import Request

    @server
    async def load(request):
        return {"request": isinstance(request, Request), "type": request.scope["type"]}
    """
    async with open_pages(tmp_path, text) as client:
        assert (await client.load_page("/")).data == {"request": True, "type": "http"}


RETURNS = """
    @server
    async def load(request):
        return {value}
"""


@rule("loader.4")
@pytest.mark.parametrize("navigation", [False, True])
@pytest.mark.parametrize(
    ("value", "status", "data"),
    [
        ('{"n": 1}', 200, '{"n":1}'),
        ("{}", 200, "{}"),
        ('({"n": 1}, 201)', 201, '{"n":1}'),
        ('({"missing": True}, 404)', 404, '{"missing":true}'),
    ],
)
async def test_loader_4_returns_a_dict_with_or_without_a_status(
    tmp_path: Path, value: str, status: int, data: str, navigation: bool
) -> None:
    headers = {"x-fx-navigation": "1"} if navigation else {}
    async with open_pages(tmp_path, RETURNS.format(value=value)) as client:
        response = await client.get("/", headers=headers)
    assert response.status == status
    assert f'"data":{data}' in response.text
    assert f'"statusCode":{status}' in response.text


@rule("loader.4")
@pytest.mark.parametrize(
    "value",
    ["None", "[1]", "'text'", "({}, 200, 1)", "([], 200)"],
)
async def test_loader_4_anything_else_is_an_error(
    tmp_path: Path, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_pages(tmp_path, RETURNS.format(value=value)) as client:
        assert (await client.get("/")).status == 500
    assert "Return a dict, or a tuple of a dict and an HTTP status" in caplog.text


TWO = """
    @server
    async def load(request):
        return {}

    @server
    async def more(request):
        return {}
"""


@rule("loader.5")
async def test_loader_5_a_second_one_is_not_allowed(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path, TWO)
    assert problem.startswith("pages/index.fxl:6:11: 'more' is a second @server function")
    with pytest.raises(CompileFailed, match="second @server"):
        async with open_pages(tmp_path, TWO):
            raise AssertionError("must not start")


@rule("loader.5")
async def test_loader_5_every_file_may_have_its_own(tmp_path: Path) -> None:
    one = RETURNS.format(value='{"n": 1}')
    files = {"layout": one.replace("1", "0"), "index": one, "other": one.replace("1", "2")}
    async with open_pages(tmp_path, files) as client:
        pages = [await client.load_page(path) for path in ("/", "/other")]
    assert [(each.layout_data, each.data) for each in pages] == [
        ({"n": 0}, {"n": 1}),
        ({"n": 0}, {"n": 2}),
    ]
