"""Which lists of hooks are called: each form of each kind of file, with each list alone.

The combinations come from the code, so that a form or a kind that is new fails here until
it is said who guards it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import replace
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

import fxtrio.serve
from fx.testing import Client, SocketRejected, open_app
from fxtrio.callables import awaitable
from fxtrio.config import RouteMiddlewareConfig
from fxtrio.routes.matched import GUARDS, FileKind, HookList, RouteKind
from fxtrio.serve.pages.functions.endpoint_code import METHODS
from fxtrio.serve.request.hooks import Hook, Hooks
from tests.serve.test_guard_matrix import mounted
from tests.trees import page, write_tree

PAGE = """
    @server
    async def load(request):
        request.app.state.ran.append("page")
        return {}

    @action
    async def act(request):
        request.app.state.ran.append("page")
        return {}

    @stream
    async def values(request):
        request.app.state.ran.append("page")
        yield {}

    async def websocket(ws):
        ws.app.state.ran.append("page")
        await ws.accept()
    """
ENDPOINT = "\n".join(
    f"async def {method}(request):\n    request.app.state.ran.append('endpoint')\n    return {{}}\n"
    for method in METHODS
) + ("async def websocket(ws):\n    ws.app.state.ran.append('endpoint')\n    await ws.accept()\n")
HOOKS = """
    from starlette.responses import PlainTextResponse

    def hook(name):
        async def refuse(connection):
            connection.app.state.called.append(name)
            if name in connection.app.state.rejecting:
                return PlainTextResponse("refused", 403)
        return refuse

    pages, actions, apis, websockets = map(hook, ("pages", "actions", "apis", "websockets"))
    """

ACTIONS = """
    from fx.runtime import action

    @action
    async def act(request):
        request.app.state.ran.append("actions")
        return {}
    """

Ask = Callable[[Client], Awaitable[int]]


def _request(method: str, url: str, **headers: str) -> Ask:
    async def ask(client: Client) -> int:
        sent = {"content-type": "application/json", **headers}
        return (await client.request(method, url, headers=sent)).status

    return ask


def _handshake(url: str) -> Ask:
    async def ask(client: Client) -> int:
        try:
            async with client.websocket(url):
                return 200
        except SocketRejected as rejected:
            return rejected.status

    return ask


ASK: dict[tuple[FileKind, RouteKind], list[Ask]] = {
    ("page", "page"): [
        _request("GET", "/"),
        _request("HEAD", "/"),
        _request("GET", "/", **{"x-fx-navigation": "1"}),
    ],
    ("page", "markdown"): [
        _request("GET", "/index.md"),
        _request("GET", "/", accept="text/markdown"),
    ],
    ("page", "action"): [_request("POST", "/api/__actions/index/act")],
    ("page", "stream"): [_request("GET", "/api/__streams/index/values")],
    ("page", "websocket"): [_handshake("/")],
    ("page", "not-found"): [_request("GET", "/members/nowhere")],
    ("actions", "action"): [
        _request("POST", "/api/__actions/shared.act"),
        _request("POST", "/api/__actions/deep.er.act"),
        _request("POST", "/api/__actions/shared.act?x=1", referer="http://testserver/members"),
    ],
    ("endpoint", "api"): [_request(method.upper(), "/api/feed") for method in METHODS],
    ("endpoint", "websocket"): [_handshake("/api/feed")],
}
"""Requests for each form of each kind of file, all of which reach code that guards stand before."""

LISTS = get_args(HookList)


def project(tmp_path: Path) -> tuple[Path, str]:
    """Write a project with every kind of file; return it with the module of its hooks."""
    module = f"list_hooks_{abs(hash(tmp_path))}"
    layout = page("@server\nasync def load(request):\n    return {}\n", _LAYOUT)
    files = {
        f"{module}.py": HOOKS,
        "pages/index.fxl": page(PAGE),
        "pages/members/layout.fxl": layout,
        "pages/members/not-found.fxl": page(""),
        "pages/api/feed.py": ENDPOINT,
        "actions/shared.py": ACTIONS,
        "actions/deep/er.py": ACTIONS,
    }
    return write_tree(tmp_path, files), module


_LAYOUT = "export default function Layout({ children }) {\n  return <div>{children}</div>;\n}\n"


@pytest.mark.parametrize(
    ("alone", "below"), [*((name, False) for name in (*LISTS, "")), ("", True)]
)
async def test_the_kind_of_a_file_and_the_representation_decide_which_hooks_run(
    tmp_path: Path, alone: str, below: bool
) -> None:
    root, module = project(tmp_path)
    lists = {name: [f"{module}.{name}"] for name in ([alone] if alone else LISTS)}
    async with open_app(root, llms=True, route_middleware=lists) as opened:
        client: Client = opened
        if below:
            client = mounted(opened, "/shops/{shop}", "/shops/a")
        state = client.app.state
        for key, guards in GUARDS.items():
            for ask in ASK[key]:
                state.ran, state.called, state.rejecting = [], [], frozenset[str]()
                status = await ask(client)
                assert state.called == [name for name in guards if name in lists], key
                assert status == (404 if key[1] == "not-found" else 200), (key, status)
                assert state.ran == ([] if key[1] == "not-found" else [key[0]])
                for name in state.called.copy():
                    state.ran, state.rejecting = [], frozenset({name})
                    assert await ask(client) in (403, 404), (key, name)
                    assert state.ran == [], (key, name)


async def test_routes_of_the_application_are_guarded_by_none_of_the_lists(tmp_path: Path) -> None:
    root, module = project(tmp_path)

    async def respond(request: object) -> PlainTextResponse:
        return PlainTextResponse("shown")

    async def accepted(socket: WebSocket) -> None:
        await socket.accept()

    routes = [Route("/raw", respond), WebSocketRoute("/raw", accepted)]
    lists = {name: [f"{module}.{name}"] for name in LISTS}
    async with open_app(root, route_middleware=lists) as client:
        client.app.router.routes.extend(routes)
        client.app.state.called, client.app.state.rejecting = [], frozenset(LISTS)
        assert [await _request("GET", "/raw")(client), await _handshake("/raw")(client)] == [
            200
        ] * 2
        assert client.app.state.called == []


def test_the_guards_of_every_form_of_every_kind_of_file_are_listed() -> None:
    assert set(ASK) == set(GUARDS)
    assert {kind for kind, _ in GUARDS} == set(get_args(FileKind))
    assert {form for _, form in GUARDS} == set(get_args(RouteKind))
    named = {name for guards in GUARDS.values() for name in guards}
    assert named == set(LISTS) == set(RouteMiddlewareConfig().lists())
    fields = set(RouteMiddlewareConfig.__struct_fields__)
    assert fields == {*LISTS, "open_apis"}
    assert all(guards for guards in GUARDS.values())


def test_hooks_with_other_lists_leave_the_first_ones_as_they_are() -> None:
    guard = Hook("guard", print, awaitable(print))
    hooks = Hooks(pages=(guard,))
    assert replace(hooks, pages=()).before("page", "page") == ()
    assert hooks.before("page", "page") == (guard,)


async def test_a_site_knows_the_forms_of_its_files_as_they_are_guarded(tmp_path: Path) -> None:
    root, _ = project(tmp_path)
    async with open_app(root, llms=True) as client:
        site = client.app.site
        matched = {
            ("endpoint" if route.source.endswith(".py") else "page", route.kind)
            for route in (
                *site.matched.values(),
                *site.matched_actions.values(),
                *site.matched_streams.values(),
            )
        }
        matched |= {("actions", one.matched.kind) for one in site.shared_actions.values()}
    assert matched == set(GUARDS) - {("page", "not-found")}


def test_every_representation_of_a_page_is_listed_here() -> None:
    """A new `Representation` of pages needs a kind of its own, and so a request above."""
    found = set()
    for module in pkgutil.walk_packages(fxtrio.serve.__path__, "fxtrio.serve."):
        for name, value in vars(importlib.import_module(module.name)).items():
            methods = {"check_hooks", "render", "render_timeout"}
            if isinstance(value, type) and methods <= set(dir(value)):
                found.add(name)
    assert found == {
        "Representation",
        "PageRepresentation",
        "NotFoundRepresentation",
        "MarkdownRepresentation",
    }
