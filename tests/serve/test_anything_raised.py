"""Application code may raise anything, wherever it is called: a logged 500, and the app goes on."""

from __future__ import annotations

import ast
import json
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
import trio
import trio.testing

from fx.testing import Client, SocketClosed, SocketRejected, open_app
from fxtrio.application_errors import application_error
from tests.source_tree import PACKAGE
from tests.trees import page, write_tree

RAISING = """
    import asyncio
    import trio

    class Odd(BaseException):
        pass

    kept = []

    async def keep():
        with trio.CancelScope() as scope:
            scope.cancel()
            try:
                await trio.sleep_forever()
            except trio.Cancelled as cancelled:
                kept.append(cancelled)
                raise

    KINDS = {
        "interrupt": KeyboardInterrupt,
        "exit": lambda: SystemExit(1),
        "generator": GeneratorExit,
        "asyncio": asyncio.CancelledError,
        "odd": lambda: Odd("odd"),
        "group": lambda: BaseExceptionGroup("g", [KeyboardInterrupt(), ValueError("v")]),
        "cancelled": lambda: kept[0],
    }

    def fail(connection, place):
        asked = connection.headers.get("x-fail", "")
        if asked.startswith(place + "="):
            raise KINDS[asked.partition("=")[2]]()
"""
KINDS = ("interrupt", "exit", "generator", "asyncio", "odd", "group", "cancelled")

INDEX = """
    from raising import fail, keep
    from starlette.responses import Response, StreamingResponse
    from pydantic import BaseModel, field_validator

    class Body(BaseModel):
        n: str = ""

        @field_validator("n")
        @classmethod
        def hold(cls, value):
            from raising import KINDS
            if value:
                raise KINDS[value]()
            return value

    class Sent(Response):
        async def __call__(self, scope, receive, send):
            from starlette.requests import Request
            fail(Request(scope), "response")
            await super().__call__(scope, receive, send)

    @server
    async def load(request):
        await keep()
        fail(request, "loader")
        return {"fail": request.headers.get("x-fail", "")}

    def HEAD(data):
        from raising import KINDS
        if data.get("fail", "").startswith("head="):
            raise KINDS[data["fail"].partition("=")[2]]()
        return "<title>x</title>"

    @action
    async def act(request):
        await keep()
        async def later():
            fail(request, "background")
        request.state.background.add_task(later)
        fail(request, "action")
        return {}

    @action
    async def typed(request, body: Body):
        return {}

    @action
    async def answers(request):
        return Sent("x")

    async def websocket(ws):
        await keep()
        await ws.accept()
        fail(ws, "websocket")

    def to_markdown(ctx):
        fail(ctx.request, "markdown")
        return "# x"
"""
LAYOUT = """
    from raising import fail

    @server
    async def load(request):
        fail(request, "layout")
        return {}
"""
ERROR = """
    from raising import fail

    @server
    async def load(request):
        fail(request, "error page")
        return {}
"""
MISSING = ERROR.replace("error page", "not found")
BROKEN = "@server\nasync def load(request):\n    raise LoaderError('no', 418)"
LLMS = """
    from raising import fail

    async def llms_txt(ctx):
        fail(ctx.request, "llms")

    def wrap_markdown(ctx, markdown):
        fail(ctx.request, "wrap")
"""
ENDPOINT = """
    from raising import fail
    from starlette.responses import StreamingResponse

    async def get(request):
        fail(request, "endpoint")
        return {}

    def put(request):
        fail(request, "plain endpoint")
        return {}

    async def websocket(ws):
        fail(ws, "endpoint socket")
"""
CLASS = """
    from raising import fail
    from starlette.endpoints import HTTPEndpoint

    class It(HTTPEndpoint):
        async def get(self, request):
            fail(request, "class")
"""
HOOKS = """
    from raising import fail

    async def pages(request):
        fail(request, "page hook")

    def actions(request):
        fail(request, "action hook")

    async def apis(request):
        fail(request, "api hook")

    async def sockets(ws):
        fail(ws, "socket hook")

    class Middleware:
        def __init__(self, app):
            self.app = app

        async def __call__(self, scope, receive, send):
            from starlette.requests import HTTPConnection
            fail(HTTPConnection(scope), "middleware")
            await self.app(scope, receive, send)
"""
NAVIGATION = {"x-fx-navigation": "1"}
ACTION = "/api/__actions/index/"
# Where it is raised, and what is asked: method, path, headers, status, how the answer is shown.
PLACES: tuple[tuple[str, str, str, dict[str, str], str], ...] = (
    ("loader", "GET", "/", {}, "html"),
    ("loader", "GET", "/", NAVIGATION, "json"),
    ("head", "GET", "/", {}, "html"),
    ("head", "GET", "/", NAVIGATION, "json"),
    ("layout", "GET", "/", NAVIGATION, "json"),
    ("loader", "GET", "/late", {}, "html"),
    ("error page", "GET", "/broken", {}, "html"),
    ("not found", "GET", "/nowhere", {}, "html"),
    ("action", "POST", ACTION + "act", {}, "json"),
    ("action hook", "POST", ACTION + "act", {}, "json"),
    ("page hook", "POST", ACTION + "act", {}, "json"),
    ("response", "POST", ACTION + "answers", {}, "json"),
    ("page hook", "GET", "/", {}, "html"),
    ("page hook", "GET", "/", NAVIGATION, "json"),
    ("page hook", "GET", "/index.md", {}, "text"),
    ("markdown", "GET", "/index.md", {}, "text"),
    ("loader", "GET", "/loaded.md", {}, "text"),
    ("wrap", "GET", "/index.md", {}, "text"),
    ("llms", "GET", "/llms.txt", {}, "text"),
    ("endpoint", "GET", "/api/it", {}, "json"),
    ("plain endpoint", "PUT", "/api/it", {}, "json"),
    ("api hook", "GET", "/api/it", {}, "json"),
    ("class", "GET", "/api/class", {}, "json"),
    ("middleware", "GET", "/", {}, "html"),
    ("middleware", "GET", "/", NAVIGATION, "json"),
    ("middleware", "GET", "/api/it", {}, "json"),
)
STATUSES = {"error page": 418, "not found": 404}
WITHOUT_ACTION = INDEX.split("@action", maxsplit=1)[0].replace("def HEAD", "def head")
LOADED = """
    async def to_markdown(ctx):
        return str(await ctx.run_loader())
"""
FILES = {
    "raising.py": RAISING,
    "hooks_of_test.py": HOOKS,
    "pages/index.fxl": page(INDEX),
    "pages/layout.fxl": page(LAYOUT),
    "pages/error.fxl": page(ERROR),
    "pages/not-found.fxl": page(MISSING),
    "pages/broken.fxl": page(BROKEN),
    "pages/loaded.fxl": page(WITHOUT_ACTION + LOADED),
    "pages/llms.py": LLMS,
    "pages/late/index.fxl": page(WITHOUT_ACTION),
    "pages/late/loading.fxl": page(""),
    "pages/api/it.py": ENDPOINT,
    "pages/api/class.py": CLASS,
}


def opened(root: Path) -> AbstractAsyncContextManager[Client]:
    hooks = {
        "pages": ["hooks_of_test:pages"],
        "actions": ["hooks_of_test:actions"],
        "apis": ["hooks_of_test:apis"],
        "websockets": ["hooks_of_test:sockets"],
    }
    return open_app(
        write_tree(root, FILES),
        mode="production",
        route_middleware=hooks,
        middleware=["hooks_of_test:Middleware"],
        llms={"enabled": True},
        secret_keys=("the key of these tests",),
    )


def assert_form(body: str, how: str, status: int) -> None:
    if how == "json":
        assert json.loads(body)["error"] == "An unexpected error occurred."
    elif how == "text":
        assert body.startswith("# 500")
    else:
        assert body.startswith("<!DOCTYPE html>") or body.startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("place", "method", "path", "headers", "how"),
    PLACES,
    ids=[f"{place}-{path}-{bool(headers)}" for place, _, path, headers, _ in PLACES],
)
async def test_whatever_application_code_raises_is_a_logged_failure(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    place: str,
    method: str,
    path: str,
    headers: dict[str, str],
    how: str,
) -> None:
    expected = STATUSES.get(place, 500)
    async with opened(tmp_path) as client:
        assert (await client.get("/")).status == 200
        for kind in KINDS:
            caplog.clear()
            raising = {**headers, "x-fail": f"{place}={kind}"}
            response = await client.request(method, path, headers=raising)
            assert response.status == expected, kind
            assert_form(response.text, how, expected)
            assert "x-request-id" in response.headers or place == "middleware"
            assert [each for each in caplog.records if each.levelname == "ERROR"], kind
        assert (await client.get("/")).status == 200


@pytest.mark.parametrize("kind", KINDS)
async def test_what_a_validator_raises_is_a_failure_of_the_action(
    tmp_path: Path, kind: str
) -> None:
    async with opened(tmp_path) as client:
        assert (await client.get("/")).status == 200
        response = await client.post(ACTION + "typed", json={"n": kind})
    assert response.status == 500
    assert response.json() == {"ok": False, "error": "An unexpected error occurred."}


async def test_what_a_background_task_raises_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path) as client:
        assert (await client.get("/")).status == 200
        for kind in KINDS:
            caplog.clear()
            headers = {"x-fail": f"background={kind}"}
            assert (await client.post(ACTION + "act", headers=headers)).status == 200
            await trio.testing.wait_all_tasks_blocked()
            assert "background task" in caplog.text, kind


@pytest.mark.parametrize(
    ("place", "path", "status"),
    [("websocket", "/", 0), ("endpoint socket", "/api/it", 500), ("socket hook", "/", 500)],
)
async def test_what_a_websocket_handler_raises_closes_that_websocket_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, place: str, path: str, status: int
) -> None:
    async with opened(tmp_path) as client:
        assert (await client.get("/")).status == 200
        for kind in KINDS:
            caplog.clear()
            headers = {"x-fail": f"{place}={kind}"}
            if status:
                with pytest.raises(SocketRejected) as rejected:
                    async with client.websocket(path, headers=headers):
                        raise AssertionError("must be refused")
                assert rejected.value.status == status
            else:
                with pytest.raises(SocketClosed) as closed:
                    async with client.websocket(path, headers=headers) as socket:
                        await socket.receive()
                assert closed.value.code == 1011
            assert "failed" in caplog.text, kind


async def test_the_cancellation_of_the_caller_passes() -> None:
    async def call() -> None:
        try:
            await trio.sleep_forever()
        except BaseException as raised:
            application_error(raised)

    with trio.CancelScope() as scope:
        scope.cancel()
        await call()
    assert scope.cancelled_caught


async def test_an_error_while_the_caller_is_cancelled_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def tidy() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise OSError("tidying failed")

    async def call() -> None:
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(tidy)
                nursery.start_soon(trio.sleep_forever)
                await trio.sleep_forever()
        except BaseException as raised:
            application_error(raised)

    with trio.CancelScope() as scope:
        scope.cancel()
        await call()
    assert scope.cancelled_caught
    assert "tidying failed" in caplog.text


def test_a_coroutine_that_waits_in_application_code_can_be_closed() -> None:
    async def call() -> None:
        try:
            await trio.lowlevel.wait_task_rescheduled(lambda _: trio.lowlevel.Abort.SUCCEEDED)
        except BaseException as raised:
            application_error(raised)
            await trio.lowlevel.checkpoint()  # what closes it would complain

    coroutine = call()
    coroutine.send(None)
    coroutine.close()


FRAMEWORK_CODE: dict[str, int] = {
    "serve/request/model/validate.py": 1,  # what validators raise beyond Exception is the action's
    "serve/request/model/validators.py": 1,
    "serve/request/model/bounded_structuring.py": 2,
    "serve/readiness.py": 2,  # what an engine of ours says of its database
    "serve/actions/transact.py": 1,  # a redirect in a transaction; the rest passes to `_run`
    "realtime/stores/redis_client.py": 1,  # what a command raises, for the task that waits for it
    "realtime/channels.py": 1,  # kept for after the nursery; the rest passes
}
"""Handlers in these rooms that need not take everything (count), and why."""


def test_nothing_that_calls_application_code_takes_exceptions_alone() -> None:
    found: dict[str, int] = {}
    for room in ("serve", "markdown", "realtime"):
        for file in sorted((PACKAGE / room).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ExceptHandler) and node.type is not None:
                    names = {each.id for each in ast.walk(node.type) if isinstance(each, ast.Name)}
                    if names & {"Exception", "SystemExit"}:
                        name = file.relative_to(PACKAGE).as_posix()
                        found[name] = found.get(name, 0) + 1
    assert found == FRAMEWORK_CODE
