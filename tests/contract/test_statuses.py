"""Every status that application code can give, over real sockets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.contract.projects import open_pages
from tests.contract.rules import rule
from tests.contract.sockets import KINDS, Kind, ask, open_server

GOOD = ("200", "201", "204", "205", "304", "404", "418", "499", "599", "HTTPStatus.CREATED")
WRONG = (
    "100",
    "199",
    "0",
    "99",
    "600",
    "999",
    "1000",
    "-1",
    "'404'",
    "None",
    "True",
    "3.0",
    "404.0",
    "HTTPStatus.CONTINUE",
)
REMEDY = "Give an int from 200 to 599, such as 404 or HTTPStatus.NOT_FOUND."
both = pytest.mark.parametrize("kind", KINDS)

STATUSES = """
    from http import HTTPStatus
    from starlette.exceptions import HTTPException
    from starlette.responses import JSONResponse, Response
    from fx.runtime import ActionError, LoaderError, ValidationActionError, redirect

    def status(request):
        return eval(request.query_params.get("s", "200"))

    def response(request):
        made = Response("made", status_code=200)
        made.status_code = status(request)
        return made

    def raised(request, of, *given):
        error = of("no", *given) if of is not HTTPException else of(404, "no")
        error.status_code = status(request)
        raise error
"""
PAGE = (
    STATUSES
    + """
    @server
    async def load(request):
        how = request.query_params.get("how")
        if how == "tuple":
            return {"n": 1}, status(request)
        if how == "loader":
            raised(request, LoaderError)
        if how == "http":
            raised(request, HTTPException)
        if how == "redirect":
            return redirect("/x", status(request))
        return {"n": 1}

    @action
    async def act(request):
        how = request.query_params["how"]
        if how == "action":
            raised(request, ActionError)
        if how == "validation":
            error = ValidationActionError(fields={})
            error.status_code = status(request)
            raise error
        if how == "loader":
            raised(request, LoaderError)
        if how == "redirect":
            raise redirect("/x", status(request))
        return response(request)

    def HEAD(data):
        return ""

    def to_markdown(ctx):
        raised(ctx.request, LoaderError)
"""
)
ENDPOINT = (
    STATUSES
    + """
    async def get(request):
        how = request.query_params["how"]
        if how == "tuple":
            return {"n": 1}, status(request)
        if how == "response":
            return response(request)
        if how == "action":
            raised(request, ActionError)
        if how == "http":
            raised(request, HTTPException)
        raised(request, LoaderError)
"""
)
HOOKS = (
    STATUSES
    + """
    async def hook(request):
        how = request.query_params.get("hook")
        if how == "response":
            return response(request)
        if how == "loader":
            raised(request, LoaderError)
    """
)
FILES = {
    "index": PAGE,
    "slow/index": PAGE,
    "error": "",
    "pages/api/status.py": ENDPOINT,
    "status_hooks.py": HOOKS,
}
NAVIGATION = {"x-fx-navigation": "1"}
HTML = {"accept": "text/html"}
FORM = {**HTML, "content-type": "application/x-www-form-urlencoded"}

# What is asked, and whether a failure is shown as HTML, a payload, JSON or text.
PLACES: tuple[tuple[str, str, dict[str, str], str, str], ...] = (
    ("GET", "/?how=tuple", {}, "html", "pages/index.fxl: load()"),
    ("GET", "/?how=tuple", NAVIGATION, "payload", "pages/index.fxl: load()"),
    ("GET", "/?how=loader", {}, "html", "pages/index.fxl: load()"),
    ("GET", "/?how=loader", NAVIGATION, "payload", "pages/index.fxl: load()"),
    ("GET", "/?how=http", NAVIGATION, "payload", "pages/index.fxl: load()"),
    ("GET", "/index.md?how=x", {}, "text", "pages/index.fxl"),
    ("GET", "/?hook=response", NAVIGATION, "payload", "route hook 'status_hooks:hook'"),
    ("GET", "/?hook=loader", NAVIGATION, "payload", "route hook 'status_hooks:hook'"),
    ("GET", "/?hook=loader", {}, "html", "route hook 'status_hooks:hook'"),
    ("GET", "/index.md?hook=response", {}, "text", "route hook 'status_hooks:hook'"),
    ("POST", "/api/__actions/index/act?how=action", {}, "json", "pages/index.fxl: act()"),
    ("POST", "/api/__actions/index/act?how=validation", {}, "json", "pages/index.fxl: act()"),
    ("POST", "/api/__actions/index/act?how=loader", {}, "json", "pages/index.fxl: act()"),
    ("POST", "/api/__actions/index/act?how=response", {}, "json", "pages/index.fxl: act()"),
    ("POST", "/api/__actions/index/act?how=action", FORM, "form", "pages/index.fxl: act()"),
    ("POST", "/api/__actions/index/act?hook=loader", {}, "json", "route hook 'status_hooks:hook'"),
    ("GET", "/api/status?how=tuple", {}, "json", "pages/api/status.py"),
    ("GET", "/api/status?how=response", {}, "json", "pages/api/status.py"),
    ("GET", "/api/status?how=action", {}, "json", "pages/api/status.py"),
    ("GET", "/api/status?how=http", {}, "json", "pages/api/status.py"),
    ("GET", "/api/status?how=loader", {}, "json", "pages/api/status.py"),
    ("GET", "/api/status?hook=response", {}, "json", "route hook 'status_hooks:hook'"),
)


def settings() -> dict[str, Any]:
    hooks = {part: ["status_hooks:hook"] for part in ("pages", "actions", "apis")}
    return {"route_middleware": hooks, "llms": {"enabled": True}}


def assert_shape(body: bytes, shape: str) -> None:
    """Assert that a failure has a form that its client can read."""
    text = body.decode()
    if shape in ("json", "payload"):
        payload = json.loads(text)
        assert (payload["ok"], payload["error"]) == (False, "An unexpected error occurred.")
    if shape == "payload":
        assert (payload["statusCode"], payload["boundary"]) == (500, "pages/error.fxl")
    if shape == "html":
        assert '"boundary":"pages/error.fxl"' in text
    if shape == "form":
        assert '"actionData":{"action":"act","ok":false' in text
    if shape == "text":
        assert text.startswith("# 500")


@rule("errors.2", "errors.1", "errors.3")
@both
async def test_errors_2_an_invalid_status_is_an_error_that_names_the_place(
    tmp_path: Path, kind: Kind, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_pages(tmp_path, FILES, **settings()) as client, open_server(client, kind) as at:
        for status in WRONG:
            for method, path, headers, shape, place in PLACES:
                url = f"{path}&s={status}"
                answer = await ask(at, method, url, headers=headers)
                case = f"{method} {url} {headers}: {answer.status} {answer.body[:300]!r}"
                assert answer.status == 500, case
                try:
                    assert_shape(answer.body, shape)
                except (AssertionError, ValueError) as error:
                    raise AssertionError(case) from error
                if status == WRONG[0]:  # a log that repeats itself is cut
                    assert any(place in each and REMEDY in each for each in caplog.messages), case


@rule("errors.2", "errors.1", "errors.3")
@both
async def test_errors_2_an_int_from_200_to_599_is_the_status_of_the_response(
    tmp_path: Path, kind: Kind
) -> None:
    async with open_pages(tmp_path, FILES, **settings()) as client, open_server(client, kind) as at:
        for method, path, headers, _, _ in PLACES:
            for status in GOOD:
                url = f"{path}&s={status}"
                answer = await ask(at, method, url, headers=headers)
                expected = 201 if status == "HTTPStatus.CREATED" else int(status)
                case = f"{method} {url} {headers}: {answer.status} {answer.body[:300]!r}"
                assert answer.status == expected, case
                assert (answer.body == b"") == (expected in (204, 205, 304)), case


@rule("errors.2")
@pytest.mark.parametrize("status", ["303.0", "'303'", "404", "True", "[303]"])
async def test_errors_2_redirects_take_the_status_of_a_redirect_alone(
    tmp_path: Path, status: str
) -> None:
    async with open_pages(tmp_path, FILES, **settings()) as client:
        loaded = await client.get(f"/?how=redirect&s={status}", headers=NAVIGATION)
        acted = await client.post(f"/api/__actions/index/act?how=redirect&s={status}")
    assert (loaded.status, acted.status) == (500, 500)
