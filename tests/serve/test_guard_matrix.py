"""Every form of a page, of every kind of route, behind every kind of guard.

What is asserted is less the status than what ran: each page writes down when its loader,
action, WebSocket or Markdown function runs, and the hooks write down what they judged.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, unquote

import attrs
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import Scope

from fx.testing import Client, SocketRejected, open_app
from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.testing.responses import WholeResponse
from tests.auth.harness import EMAIL, KEY, PASSWORD
from tests.trees import page, write_tree

if TYPE_CHECKING:
    from fxtrio.application import Application

CHEAP = {"timeCost": 1, "memoryKib": 8, "parallelism": 1}

CODE = """
    SOURCE = {source!r}

    @server
    async def load(request):
        request.app.state.ran.append(SOURCE)
        return {{"message": "secret"}}

    @action
    async def act(request):
        request.app.state.ran.append(SOURCE)
        return {{"message": "secret"}}

    @action
    async def yields(request):
        request.app.state.ran.append(SOURCE)
        yield {{"message": "secret"}}

    @stream
    async def values(request):
        request.app.state.ran.append(SOURCE)
        yield {{"message": "secret"}}

    def to_markdown(ctx):
        ctx.request.app.state.ran.append(SOURCE)
        return "secret"

    async def websocket(ws):
        ws.app.state.ran.append(SOURCE)
        await ws.accept()
        await ws.send_text("secret")
    """
HOOKS = """
    from fx.runtime import route_of
    from starlette.responses import PlainTextResponse

    OPEN = {patterns!r}
    PATHS = {paths!r}

    async def by_route(connection):
        route = route_of(connection)
        connection.app.state.judged.append(route)
        if route.pattern not in OPEN:
            return PlainTextResponse("refused", 403)

    async def by_path(connection):
        connection.app.state.judged.append(route_of(connection))
        if connection.scope["path"] not in PATHS:
            return PlainTextResponse("refused", 403)

    async def watching(connection):
        connection.app.state.judged.append(route_of(connection))
    """

DYNAMIC = (
    "[team]",
    "[team]/[page]",
    "[section]/public",
    "public",
    "open/[id]",
    "(shop)/sale",
    "(shop)/(inner)/public/deep",
    "files/[...path]",
    "wiki/[[...path]]",
    "guides/[...path]",
)
"""Pages of an app whose dynamic routes answer what no literal one does."""

CATCHING = ("[[...all]]", "public", "(members)/closed/[id]")
"""Pages of an app whose root takes every path."""

GREEDY = ("[...all]", "index", "public")

OPEN_PATTERNS = ("/public", "/open/[id]", "/guides/[...path]")


@attrs.frozen
class Case:
    """A page's URL, without the base URL, and what answers it."""

    pages: tuple[str, ...]
    url: str
    file: str
    is_open: bool = False
    by_path: bool = False
    """Whether a guard that opens the paths ``/public`` and ``/open/a`` opens it."""

    @property
    def source(self) -> str:
        return f"pages/{self.file}.fxl"


CASES = (
    Case(DYNAMIC, "/login", "[team]"),
    Case(DYNAMIC, "/register", "[team]"),
    Case(DYNAMIC, "/%6cogin", "[team]"),
    Case(DYNAMIC, "/red", "[team]"),
    Case(DYNAMIC, "/a%2Fb", "[team]"),
    Case(DYNAMIC, "/public%2Fdeep", "[team]"),
    Case(DYNAMIC, "/public", "public", is_open=True, by_path=True),
    Case(DYNAMIC, "/%70ublic", "public", is_open=True, by_path=True),
    Case(DYNAMIC, "/red/public", "[section]/public"),
    Case(DYNAMIC, "/login/public", "[section]/public"),
    Case(DYNAMIC, "/public/red", "[team]/[page]"),
    Case(DYNAMIC, "/login/x", "[team]/[page]"),
    Case(DYNAMIC, "/open/a", "open/[id]", is_open=True, by_path=True),
    Case(DYNAMIC, "/open/a%2Fb", "open/[id]", is_open=True),
    Case(DYNAMIC, "/sale", "(shop)/sale"),
    Case(DYNAMIC, "/files/public", "files/[...path]"),
    Case(DYNAMIC, "/files/a/login", "files/[...path]"),
    Case(DYNAMIC, "/files/a%2Flogin", "files/[...path]"),
    Case(DYNAMIC, "/wiki", "wiki/[[...path]]"),
    Case(DYNAMIC, "/wiki/login", "wiki/[[...path]]"),
    Case(DYNAMIC, "/guides/a/b", "guides/[...path]", is_open=True),
    Case(CATCHING, "/", "[[...all]]"),
    Case(CATCHING, "/login", "[[...all]]"),
    Case(CATCHING, "/login/public", "[[...all]]"),
    Case(CATCHING, "/public", "public", is_open=True, by_path=True),
    Case(CATCHING, "/public/a/b", "[[...all]]"),
    Case(GREEDY, "/", "index"),
    Case(GREEDY, "/register", "[...all]"),
    Case(GREEDY, "/public/more", "[...all]"),
    Case(GREEDY, "/public", "public", is_open=True, by_path=True),
)

MOUNTS = (("", ""), ("/app", ""), ("", "/proxy"))
"""Base URL of the app, and ``root_path`` of the server."""

JSON = "application/json", b"{}"
FORM = "application/x-www-form-urlencoded", b"a=b"
MULTIPART = (
    "multipart/form-data; boundary=x",
    b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n',
)
"""Bodies of actions, with their types."""


@attrs.define(eq=False)
class ProxiedClient(Client):
    """A client whose requests come below the server's ``root_path``."""

    root_path: str = ""

    def scope(self, kind: str, url: str, headers: Any) -> Scope:
        return {**super().scope(kind, url, headers), "root_path": self.root_path}


@attrs.define(eq=False)
class MountedClient(Client):
    """A client of another app, which has the app below a path that may have parameters."""

    inner: Any = None
    at: str = ""

    @property
    def base_url(self) -> str:
        return str(self.inner.site.config.base_url)

    def scope(self, kind: str, url: str, headers: Any) -> Scope:
        return super().scope(kind, self.at + url, headers)


def mounted(client: Client, pattern: str, at: str) -> MountedClient:
    """Mount the client's app, as another app does; return a client of that below ``at``."""
    outer = Starlette(routes=[Mount("/elsewhere", Starlette()), Mount(pattern, client.app)])
    outer.state = client.app.state
    return MountedClient(cast("Application", outer), inner=client.app, at=at)


@attrs.frozen
class Response:
    """What a request came to."""

    status: int
    text: str


Ask = Callable[[Client, str], Awaitable[Response]]


async def _request(
    client: Client, method: str, url: str, headers: dict[str, str], content: bytes = b""
) -> Response:
    """Request in the task of the test.

    A task for each of tens of thousands of requests, as the client has it, is a third of the work.
    """
    scope = {**client.scope("http", url, headers), "method": method}
    whole = WholeResponse(content)
    await client.app(scope, whole.receive, whole.send)
    assert whole.start is not None, url
    return Response(whole.start["status"], b"".join(whole.chunks).decode())


def _get(method: str = "GET", suffix: str = "", **headers: str) -> Ask:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}

    async def ask(client: Client, path: str) -> Response:
        named = "/index" if suffix == ".md" and path == "/" else path
        return await _request(client, method, client.base_url + named + suffix, sent)

    return ask


def _post(kind: str, content: bytes, action: str = "act", **headers: str) -> Ask:
    sent = {**headers, "content-type": kind}

    async def ask(client: Client, path: str) -> Response:
        page = path if path != "/" else "/index"
        url = f"{client.base_url}/api/__actions{page}/{action}"
        return await _request(client, "POST", url, sent, content)

    return ask


def _read() -> Ask:
    async def ask(client: Client, path: str) -> Response:
        page = path if path != "/" else "/index"
        return await _request(client, "GET", f"{client.base_url}/api/__streams{page}/values", {})

    return ask


async def _socket(client: Client, path: str) -> Response:
    try:
        async with client.websocket(client.base_url + path) as socket:
            return Response(200, str(await socket.receive()))
    except SocketRejected as rejected:
        return Response(rejected.status, "")


FORMS: dict[str, Ask] = {
    "html": _get(),
    "head": _get("HEAD"),
    "navigation": _get(x_fx_navigation="1"),
    "markdown by name": _get(suffix=".md"),
    "head of markdown": _get("HEAD", ".md"),
    "markdown by header": _get(accept="text/markdown"),
    "action with json": _post(*JSON),
    "action that streams": _post(*JSON, "yields"),
    "action that streams, of a page without scripts": _post(*FORM, "yields", accept="text/html"),
    "action with a form": _post(*FORM),
    "action of a page without scripts": _post(*FORM, accept="text/html"),
    "action with multipart": _post(*MULTIPART),
    "stream": _read(),
    "websocket": _socket,
}
"""Forms of a page, each of which runs code of the page when it is let pass."""


def _elsewhere(form: Ask, change: Callable[[str], str]) -> Ask:
    async def ask(client: Client, path: str) -> Response:
        return await form(client, change(path))

    return ask


ODD_FORMS: dict[str, Ask] = {
    f"{name} {what}": _elsewhere(form, change)
    for name, form in FORMS.items()
    for what, change in {
        "with a slash at the end": lambda path: path + "/",
        "with two slashes": lambda path: "/" + path,
        "with two slashes inside": lambda path: path.replace("/", "//"),
        "with a name of Markdown": lambda path: path + ".md",
        "with an encoded name of Markdown": lambda path: path + "%2emd",
        "with a segment that is a dot": lambda path: path + "/.",
        "with a segment that leads up": lambda path: "/public/.." + path,
        "with an encoded slash before": lambda path: "/public%2F.." + path,
        "with an encoded slash at the end": lambda path: path + "%2F",
    }.items()
}
"""What may lead to any route, or to none."""


async def open_guarded(
    tmp_path: Path, pages: tuple[str, ...], hook: str, base_url: str, root_path: str = ""
) -> tuple[Path, dict[str, Any]]:
    """Write the project of ``pages``; return it with the settings that guard it."""
    name = f"matrix_hooks_{abs(hash(tmp_path))}"
    paths = tuple(root_path + base_url + path for path in ("/public", "/open/a"))
    sources = [f"pages/{file}.fxl" for file in pages]
    write_tree(
        tmp_path,
        {
            f"{name}.py": HOOKS.format(patterns=OPEN_PATTERNS, paths=paths),
            **{source: page(CODE.format(source=source)) for source in sources},
        },
    )
    guard = "fxtrio.plugins.auth.require_user" if hook == "require_user" else f"{name}.{hook}"
    auth = {"argon2": CHEAP, "publicPaths": list(OPEN_PATTERNS)}
    # Hooks are asked in order, so what `watching` sees has been let pass by none yet.
    hooks = [f"{name}.watching", guard] if hook == "require_user" else [guard]
    return tmp_path, {
        "plugins": [{"name": "auth", "settings": auth}],
        "secret_keys": (KEY,),
        "llms": True,
        "base_url": base_url,
        "route_middleware": {"pages": hooks},
    }


async def ask_page(client: Client, form: Ask, path: str) -> tuple[Response, list[str], list[Any]]:
    """Ask for a page; return the answer, the files whose code ran, and what hooks judged."""
    state = client.app.state
    state.ran, state.judged = [], []
    return await form(client, path), state.ran, state.judged


async def misjudged(client: Client, case: Case, hook: str) -> list[object]:
    """Ask for a page in all forms; return those that it is not open in, or refused in, as it is."""
    is_open = case.by_path if hook == "by_path" else case.is_open
    wrong: list[object] = []
    for name, form in FORMS.items():
        answer, ran, judged = await ask_page(client, form, case.url)
        fits = {route.source for route in judged} == {case.source}
        passed = set(ran) == {case.source} and answer.status == 200
        passed = passed or (answer.status == 303 and bool(ran) and "scripts" in name)
        rejected = not ran and answer.status in (303, 401, 403) and "secret" not in answer.text
        rejected = rejected or (name == "navigation" and not ran and "/login" in answer.text)
        if not fits or (not passed if is_open else not rejected):
            wrong.append((case.url, name, answer, ran, judged))
    open_sources = {each.source for each in CASES if each.is_open}
    for name, form in ODD_FORMS.items():
        answer, ran, judged = await ask_page(client, form, case.url)
        seen = {route.source for route in judged}
        allowed = seen if hook == "by_path" else seen & open_sources
        if not set(ran) <= allowed or (not ran and "secret" in answer.text):
            wrong.append((case.url, name, answer, ran, judged))
    return wrong


@pytest.mark.parametrize("mount", MOUNTS, ids=lambda mount: f"{mount[0]}|{mount[1]}")
@pytest.mark.parametrize(
    "pages", [DYNAMIC, CATCHING, GREEDY], ids=["dynamic", "catching", "greedy"]
)
@pytest.mark.parametrize("hook", ["require_user", "by_route", "by_path"])
async def test_a_page_is_open_in_all_of_its_forms_or_in_none(
    tmp_path: Path, hook: str, pages: tuple[str, ...], mount: tuple[str, str]
) -> None:
    base_url, root_path = mount
    project, settings = await open_guarded(tmp_path, pages, hook, base_url, root_path)
    async with open_app(project, **settings) as opened:
        client = ProxiedClient(opened.app, root_path=root_path)
        cases = [case for case in CASES if case.pages is pages]
        assert [await misjudged(client, case, hook) for case in cases] == [[]] * len(cases)


@pytest.mark.parametrize("pages", [DYNAMIC, CATCHING], ids=["dynamic", "catching"])
@pytest.mark.parametrize("hook", ["require_user", "by_route", "by_path"])
async def test_a_page_of_a_mounted_app_is_guarded_in_all_of_its_forms(
    tmp_path: Path, hook: str, pages: tuple[str, ...]
) -> None:
    at = "/shops/login"  # which is no name of a page there
    project, settings = await open_guarded(tmp_path, pages, hook, "/app", at)
    async with open_app(project, **settings) as opened:
        client = mounted(opened, "/shops/{shop}", at)
        cases = [case for case in CASES if case.pages is pages]
        assert [await misjudged(client, case, hook) for case in cases] == [[]] * len(cases)


@pytest.mark.parametrize("shop", ["a b", "100%", 'a"b', "a?b", "a\\b", "a\r\nb", "ä", "%2f"])
async def test_who_must_sign_in_is_sent_to_the_page_below_a_mount_of_any_name(
    tmp_path: Path, shop: str
) -> None:
    pages = (*DYNAMIC, "(auth)/login")
    project, settings = await open_guarded(tmp_path, pages, "require_user", "/app")
    async with open_app(project, **settings) as opened:
        client = mounted(opened, "/shops/{shop}", f"/shops/{quote(shop)}")
        opened.app.state.ran, opened.app.state.judged = [], []
        location = (await client.get("/app/somewhere")).headers["location"]
        at = f"/shops/{quote(shop, safe=SAFE_IN_PATHS)}/app"
        assert location.startswith(f"{at}/login?next=/shops/")
        assert (await client.get("/app/login")).status == 200


async def test_who_is_signed_in_sees_every_page_in_every_form(tmp_path: Path) -> None:
    project, settings = await open_guarded(tmp_path, DYNAMIC, "require_user", "")
    async with open_app(project, **settings) as client:
        await client.app.state.fx.plugins["auth"].add_user(EMAIL, PASSWORD)
        body = {"email": EMAIL, "password": PASSWORD}
        assert (await client.post("/api/__auth/login", json=body)).status == 200
        for case in CASES:
            if case.pages is not DYNAMIC:
                continue
            for name, form in FORMS.items():
                answer, ran, judged = await ask_page(client, form, case.url)
                assert ran and set(ran) == {case.source}, (case, name, answer)
                values = [dict(route.params) for route in judged]
                assert values == values[:1] * len(values)


@pytest.mark.parametrize("name", ["login", "register"])
async def test_the_ways_in_are_open_where_they_are_pages_of_the_app(
    tmp_path: Path, name: str
) -> None:
    pages = (*DYNAMIC, f"(auth)/{name}")
    project, settings = await open_guarded(tmp_path, pages, "require_user", "")
    async with open_app(project, **settings) as client:
        for form in FORMS.values():
            _, ran, _ = await ask_page(client, form, f"/{name}")
            assert set(ran) == {f"pages/(auth)/{name}.fxl"}
        for form in (_post(*JSON), _socket):
            _, ran, judged = await ask_page(client, form, f"/{name}.md")
            assert (ran, judged[0].pattern) == ([], "/[team]")


async def test_a_stored_response_is_guarded_by_its_route_as_well(tmp_path: Path) -> None:
    project, settings = await open_guarded(tmp_path, DYNAMIC, "require_user", "")
    for file in ("[team]", "public"):
        path = project / f"pages/{file}.fxl"
        path.write_text('CACHE = {"revalidate": 60}\n' + path.read_text("utf-8"), "utf-8")
    forms = [FORMS[name] for name in ("html", "navigation", "markdown by name")]
    async with open_app(project, mode="production", **settings) as client:
        await client.app.state.fx.plugins["auth"].add_user(EMAIL, PASSWORD)
        stranger = Client(client.app)
        body = {"email": EMAIL, "password": PASSWORD}
        assert (await client.post("/api/__auth/login", json=body)).status == 200
        for form in forms:
            for visitor in (client, stranger, client, stranger):
                answer, _, judged = await ask_page(visitor, form, "/login")
                assert ("secret" in answer.text) is (visitor is client)
                assert {route.pattern for route in judged} == {"/[team]"}
                assert "secret" in (await ask_page(visitor, form, "/public"))[0].text


def test_cases_are_what_they_are_called() -> None:
    """The tree of each case has the page that shall answer it."""
    for case in CASES:
        assert case.file in case.pages, case
        assert unquote(case.url).startswith("/")
