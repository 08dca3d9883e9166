"""Python endpoints of `api` folders."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message
from trio.testing import MockClock

from fx.testing import Client, open_app
from fxtrio.serve.pages.functions.server_functions import PageCodeInvalid
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
            "pages/api/named.py": """
                from http import HTTPMethod
                from starlette.endpoints import HTTPEndpoint
                from starlette.responses import PlainTextResponse

                class _Base(HTTPEndpoint):
                    async def get(self, request):
                        return PlainTextResponse(f"{self.word} {request.method}")

                class Users(_Base):
                    word = "users"
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
    posted = await client.post("/api/items/7", json={"a": 1})
    assert (posted.status, posted.json()) == (201, {"body": {"a": 1}})
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
    for helper in ("DISPATCH", "METHOD_NOT_ALLOWED", "__INIT__", "*"):  # HTTP/2 takes any token
        assert (await client.request(helper, "/api/cls")).status == 405


async def test_an_endpoint_class_may_have_any_name(client: Client) -> None:
    assert (await client.get("/api/named")).text == "users GET"
    assert (await client.request("HEAD", "/api/named")).status == 200
    rejected = await client.post("/api/named", json={})
    assert (rejected.status, rejected.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
    options = await client.request("OPTIONS", "/api/named")
    assert (options.status, options.headers["allow"]) == (204, "GET, HEAD, OPTIONS")


@pytest.mark.parametrize(
    ("second", "names"),
    [
        ("class B(HTTPEndpoint): ...", "'A', 'B'"),
        ("async def get(request): ...", "'get', 'A'"),
        ("async def endpoint(request): ...", "'endpoint', 'A'"),
    ],
)
async def test_a_file_with_two_things_that_answer_is_rejected_by_name(
    tmp_path: Path, second: str, names: str
) -> None:
    text = f"from starlette.endpoints import HTTPEndpoint\nclass A(HTTPEndpoint): ...\n{second}\n"
    write_tree(tmp_path, {"pages/api/two.py": text})
    with pytest.raises(PageCodeInvalid, match=f"two.py: more than one .* {names}. Keep one"):
        async with open_app(tmp_path):
            pass


FAILING = """
    import trio
    from starlette.exceptions import HTTPException

    async def get(request):
        how = request.query_params["how"]
        if how == "http":
            raise HTTPException(418, "a teapot", headers={"X-Pot": "tea"})
        if how == "slow":
            await trio.sleep(3600)
        if how == "exit":
            raise SystemExit(1)
        if how == "value":
            return {"value": object()}
        return await request.app.state.missing
    """
REJECTING = """
    from fx.runtime import LoaderError

    async def refuse(request):
        if "x-refuse" in request.headers:
            raise LoaderError("no", 403)
        if "x-bug" in request.headers:
            raise ValueError("a bug")
    """


@pytest.mark.parametrize(
    ("url", "headers", "status"),
    [
        ("/api/nowhere", {}, 404),
        ("/api/fails/more", {}, 404),
        ("/api/__actions", {}, 404),
        ("/api/__actions/index/x", {}, 405),
        ("/api/fails?how=http", {}, 418),
        ("/api/fails?how=slow", {}, 504),
        ("/api/fails?how=exit", {}, 500),
        ("/api/fails?how=value", {}, 500),
        ("/api/fails?how=bug", {}, 500),
        ("/api/fails", {"x-refuse": "1"}, 403),
        ("/api/fails", {"x-bug": "1"}, 500),
        ("/api/route", {}, 500),
    ],
)
@pytest.mark.parametrize("accept", ["text/html", "*/*"])
async def test_whatever_fails_below_api_is_answered_as_json(
    tmp_path: Path,
    autojump_clock: MockClock,
    url: str,
    headers: dict[str, str],
    status: int,
    accept: str,
) -> None:
    name = f"api_hooks_{abs(hash(tmp_path))}"
    files = {f"{name}.py": REJECTING, "pages/api/fails.py": FAILING}
    write_tree(tmp_path, files)

    async def broken(request: Request) -> Response:
        raise ValueError("a bug in a route of the application")

    hooks = {"apis": [f"{name}.refuse"]}
    async with open_app(tmp_path, mode="production", route_middleware=hooks) as client:
        client.app.router.routes.append(Route("/api/route", broken))
        answer = await client.get(url, headers={"accept": accept, **headers})
    assert answer.status == status
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["ok"] is False
    assert isinstance(answer.json()["error"], str)
    assert ("tea" in answer.headers.get("x-pot", "")) is (status == 418)


LONG = """
    import trio

    async def get(request):
        for step in range(10):
            if "asks" in request.query_params and await request.is_disconnected():
                return None
            await trio.sleep(1)
            request.app.state.steps = step + 1
    """


@pytest.mark.parametrize(("query", "steps"), [("", 10), ("asks=1", 4)])
async def test_an_endpoint_whose_client_disconnects_keeps_running_unless_it_asks(
    tmp_path: Path, autojump_clock: MockClock, query: str, steps: int
) -> None:
    write_tree(tmp_path, {"pages/api/long.py": LONG})
    left = trio.Event()
    sent = False

    async def receive() -> Message:
        nonlocal sent
        if not sent:
            sent = True
            return {"type": "http.request", "body": b"", "more_body": False}
        if not left.is_set():  # which servers tell at once
            await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        await trio.lowlevel.checkpoint()

    async with open_app(tmp_path) as client:
        scope = {**client.scope("http", "/api/long", None), "query_string": query.encode()}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.app, scope, receive, send)
            await trio.sleep(3.5)
            left.set()
        assert client.app.state.steps == steps
