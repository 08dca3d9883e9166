"""Python endpoints of `api` folders."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fx.testing import Client, open_app
from tests.trees import write_tree


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    write_tree(
        tmp_path,
        {
            "pages/api/one.py": """
                async def endpoint(request):
                    return {"method": request.method, "n": None}
                """,
            "pages/api/items/[id].py": """
                from fx.runtime import ActionError

                async def get(request):
                    return {"id": request.path_params["id"]}

                async def delete(request):
                    raise ActionError("locked", 423)

                async def post(request):
                    return {"body": await request.json()}, 201

                def put(request):
                    return 1 / 0
                """,
            "pages/api/cls.py": """
                from starlette.endpoints import HTTPEndpoint
                from starlette.responses import PlainTextResponse, StreamingResponse

                class endpoint(HTTPEndpoint):
                    async def get(self, request):
                        return PlainTextResponse("got")

                    def post(self, request):
                        async def chunks():
                            yield b"a"
                            yield b"b"
                        return StreamingResponse(chunks())
                """,
        },
    )
    async with open_app(tmp_path, mode="production", limits={"body": 100}) as opened:
        yield opened


async def test_endpoint_answers_every_method(client: Client) -> None:
    assert (await client.get("/api/one")).json() == {"method": "GET", "n": None}
    assert (await client.request("PATCH", "/api/one")).json()["method"] == "PATCH"


async def test_functions_named_after_methods_answer_these(client: Client) -> None:
    assert (await client.get("/api/items/7")).json() == {"id": "7"}
    made = await client.post("/api/items/7", json={"a": 1})
    assert (made.status, made.json()) == (201, {"body": {"a": 1}})
    head = await client.request("HEAD", "/api/items/7")
    assert (head.status, head.body) == (200, b"")


async def test_another_method_is_a_405_that_names_the_allowed_ones(client: Client) -> None:
    response = await client.request("PATCH", "/api/items/7")
    options = await client.request("OPTIONS", "/api/items/7")
    assert response.status == 405
    assert response.headers["allow"] == "DELETE, GET, HEAD, OPTIONS, POST, PUT"
    assert (options.status, options.headers["allow"]) == (204, response.headers["allow"])


async def test_errors_have_the_json_shape(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    locked = await client.request("DELETE", "/api/items/7")
    broken = await client.request("PUT", "/api/items/7")
    missing = await client.get("/api/nothing")
    large = await client.post("/api/items/7", content=b"x" * 101)
    assert (locked.status, locked.json()) == (423, {"ok": False, "error": "locked"})
    assert broken.json() == {"ok": False, "error": "An unexpected error occurred."}
    assert (missing.status, missing.json()["ok"]) == (404, False)
    assert large.status == 413
    assert "ZeroDivisionError" in caplog.text


async def test_an_endpoint_class_answers_with_its_methods(client: Client) -> None:
    assert (await client.get("/api/cls")).text == "got"
    assert (await client.post("/api/cls")).text == "ab"
    assert (await client.request("DELETE", "/api/cls")).status == 405
