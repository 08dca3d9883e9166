"""The media type of payloads, whose code browsers run, is sent by the runtime alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fxtrio.serve.request.client_protocol import PAYLOAD
from fxtrio.testing import open_app
from tests.trees import write_tree

TYPE = PAYLOAD.decode()
NAVIGATION = {"x-fx-navigation": "1"}
PAGES = {
    "pages/index.fxl": """
        from starlette.responses import Response

        @server
        async def load(request):
            return {}

        @action
        async def stored(request):
            return Response("{}", media_type="APPLICATION/vnd.fx.page+json; x=y")

        export default () => <p>x</p>;
    """,
    "pages/away.fxl": """
        from fx.runtime import redirect

        @server
        async def load(request):
            return redirect("/")

        export default () => <p>x</p>;
    """,
    "pages/api/stored.py": """
        from starlette.responses import Response, StreamingResponse

        TYPE = "application/vnd.fx.page+json"

        async def get(request):
            if "streamed" in request.query_params:
                return StreamingResponse(iter([b"{}"]), headers={"Content-Type": TYPE})
            if "drafted" in request.query_params:
                request.state.response.headers["content-type"] = TYPE
                return {}
            return Response("{}", media_type=TYPE)
    """,
    "public/stored.json": "{}",
}


class Stored:
    """Middleware that answers by itself below `/stored`, and passes on everything else."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/stored":
            await Response("{}", media_type=TYPE)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


async def route(request: Request) -> Response:
    return Response("{}", media_type=TYPE)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_tree(tmp_path, PAGES)
    return tmp_path


@pytest.mark.parametrize("headers", [{}, NAVIGATION])
async def test_nothing_of_an_application_has_the_type(
    project: Path, headers: dict[str, str]
) -> None:
    middleware = [f"{__name__}.Stored"]
    async with open_app(project, middleware=middleware) as client:
        client.app.router.routes.append(Route("/route", route))
        for path in (
            "/api/stored",
            "/api/stored?streamed",
            "/api/stored?drafted",
            "/stored.json",
            "/route",
            "/stored",
        ):
            answer = await client.get(path, headers=headers)
            assert answer.headers["content-type"].startswith("application/json"), path
        answer = await client.post("/api/__actions/index/stored", json={}, headers=headers)
        assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("middleware", [[], [f"{__name__}.Stored"]])
async def test_payloads_have_it_and_documents_do_not(project: Path, middleware: list[str]) -> None:
    async with open_app(project, middleware=middleware) as client:
        for path in ("/", "/away"):
            assert (await client.get(path, headers=NAVIGATION)).headers["content-type"] == TYPE
        document = await client.get("/")
        assert document.headers["content-type"] == "text/html; charset=utf-8"
        for answer in (document, await client.get("/api/stored"), await client.get("/stored.json")):
            assert "x-fx-build" not in answer.headers


def test_the_wire_cases_use_the_type() -> None:
    cases = json.loads((Path(__file__).parents[1] / "wire/payloads.json").read_text("utf-8"))
    assert {case["kind"] for case in cases["cases"] if case["type"] == TYPE} == {
        "view",
        "redirect",
        "document",
    }
    assert all(case["kind"] == "document" for case in cases["cases"] if case["type"] != TYPE)
