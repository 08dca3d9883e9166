"""Route hooks: nothing of a guarded page, and no loader, for whom they do not let pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from fx.testing import SocketRejected, open_app
from fxtrio.errors import Redirect
from tests.trees import LAYOUT, PAGE, page, write_tree

SECRET = """
    @server
    async def load(request):
        return {"secret": "hunter2"}
    """
GUARD = """
    import trio
    from fx.runtime import LoaderError

    async def refuse(connection):
        if "slow" in connection.headers:
            await trio.sleep(3600)
        if "bug" in connection.headers:
            raise ValueError("a guard that fails")
        if connection.headers.get("x-key") != "letmein":
            raise LoaderError("forbidden", 403)
    """


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_tree(
        tmp_path,
        {
            f"guard_{abs(hash(tmp_path))}.py": GUARD,
            "pages/admin/layout.fxl": page(SECRET, LAYOUT),
            "pages/admin/error.fxl": page(""),
            "pages/admin/not-found.fxl": page(""),
            "pages/admin/index.fxl": page(
                SECRET
                + """
    @action
    async def act(request):
        raise ActionError("not now", 409)
    """
            ),
        },
    )


def settings_of(project: Path) -> dict[str, Any]:
    guard = next(path.stem for path in project.glob("guard_*.py"))
    return {"route_middleware": {"pages": [f"{guard}:refuse"]}}


@pytest.mark.parametrize("navigation", ["", "1"])
@pytest.mark.parametrize("url", ["/admin", "/admin/nowhere"])
async def test_no_loader_runs_for_a_visitor_whom_a_guard_rejects(
    project: Path, url: str, navigation: str
) -> None:
    async with open_app(project, **settings_of(project)) as client:
        rejected = await client.get(url, headers={"x-fx-navigation": navigation})
        allowed = await client.get(url, headers={"x-fx-navigation": navigation, "x-key": "letmein"})
    assert rejected.status in (403, 404)
    assert "hunter2" not in rejected.text
    assert "hunter2" in allowed.text


@pytest.mark.parametrize("navigation", ["", "1"])
async def test_a_public_loader_of_a_layout_runs_for_a_rejected_visitor_and_none_of_a_page(
    tmp_path: Path, navigation: str
) -> None:
    public = """
        @server(public=True)
        async def load(request):
            return {"site": "Corner Books"}
        """
    pages = {"pages/layout.fxl": page(public, LAYOUT), "pages/index.fxl": page(SECRET)}
    boundaries = {"pages/error.fxl": page(""), "pages/not-found.fxl": page("")}
    guarded = {"pages/shown.fxl": page(public.replace("Corner Books", "hunter2"))}
    guard = {f"guard_{abs(hash(tmp_path))}.py": GUARD}
    project = write_tree(tmp_path, {**pages, **boundaries, **guarded, **guard})
    headers = {"x-fx-navigation": navigation}
    async with open_app(project, **settings_of(project)) as client:
        answers = {
            url: await client.get(url, headers=headers) for url in ("/", "/shown", "/no/where")
        }
    assert [answer.status for answer in answers.values()] == [403, 403, 404]
    for answer in answers.values():
        assert "Corner Books" in answer.text
        assert "hunter2" not in answer.text


@pytest.mark.parametrize("header", ["none", "bug", "slow"])
async def test_a_form_s_action_shows_nothing_of_the_page_that_its_guard_keeps(
    project: Path, header: str, autojump_clock: MockClock
) -> None:
    form = {"accept": "text/html"}
    async with open_app(project, **settings_of(project)) as client:
        url = "/api/__actions/admin/act"
        rejected = await client.post(url, data={"x": "1"}, headers={**form, header: "1"})
        allowed = await client.post(url, data={"x": "1"}, headers={**form, "x-key": "letmein"})
    assert rejected.status in (403, 500, 504)
    assert "hunter2" not in rejected.text
    assert allowed.status == 409
    assert "hunter2" in allowed.text


async def test_a_guard_that_takes_too_long_shows_nothing(
    project: Path, autojump_clock: MockClock
) -> None:
    async with open_app(project, **settings_of(project)) as client:
        begin = trio.current_time()
        timed_out = await client.get("/admin", headers={"slow": "1"})
        assert trio.current_time() - begin == 30
    assert timed_out.status == 504
    assert "hunter2" not in timed_out.text


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", " javascript:alert(1)", "data:text/html,x", "", " ", "/a\nb"]
)
def test_a_redirect_leads_to_pages_and_sites_only(url: str) -> None:
    with pytest.raises(ValueError, match="redirect: "):
        Redirect(url)


def test_a_redirect_can_be_sent_in_a_header() -> None:
    assert Redirect("/€ uro?a=é#x").url == "/%E2%82%AC%20uro?a=%C3%A9#x"
    assert Redirect("https://example.com/%2F").url == "https://example.com/%2F"
    assert Redirect("/a:b").url == "/a:b"


@pytest.mark.parametrize(
    "url",
    [
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        " //evil.example",
        "https:evil.example",
        "https:/evil.example",
        "HTTPS:///evil.example",
        "https:\\\\evil.example",
    ],
)
def test_a_redirect_to_another_site_is_written_in_full(url: str) -> None:
    with pytest.raises(ValueError, match="Write it with https://"):
        Redirect(url)


BY_PATH = """
    from fx.runtime import redirect

    async def keep(connection):
        connection.scope["asked"] = connection.url.path
        connection.state.asked = connection.scope["raw_path"].decode()
        if connection.url.path == "/app/admin/a b" and "x-key" not in connection.headers:
            return redirect("/sign-in")
    """
ADMIN = """
    @action
    async def act(request):
        return {"asked": request.scope["asked"], "raw": request.state.asked, "at": str(request.url)}

    def to_markdown(ctx):
        return f"hunter2 {ctx.request.scope['asked']} {ctx.request.url.path}"
    """


@pytest.fixture
def by_path(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    name = f"path_guard_{abs(hash(tmp_path))}"
    write_tree(tmp_path, {f"{name}.py": BY_PATH, "pages/admin/[id].fxl": page(ADMIN)})
    hooks = {"pages": [f"{name}:keep"]}
    return tmp_path, {"route_middleware": hooks, "llms": True, "base_url": "/app"}


async def test_a_guard_that_goes_by_the_path_guards_every_form_of_the_page(
    by_path: tuple[Path, dict[str, Any]],
) -> None:
    project, settings = by_path
    async with open_app(project, **settings) as client:
        url = "/app/admin/a%20b"
        answers = [
            await client.get(url),
            await client.get(url, headers={"x-fx-navigation": "1"}),
            await client.get(f"{url}.md"),
            await client.get(url, headers={"accept": "text/markdown"}),
            await client.post("/app/api/__actions/admin/a%20b/act", json={}),
            await client.post("/app/api/__actions/admin/a%20b/act", data={"a": "b"}),
        ]
    for answer in answers:
        assert answer.status in (303, 401) or answer.json()["redirect"] == "/sign-in"
        assert "hunter2" not in answer.text
        assert "asked" not in answer.text


async def test_what_a_guard_keeps_of_a_request_is_there_for_the_page(
    by_path: tuple[Path, dict[str, Any]],
) -> None:
    project, settings = by_path
    async with open_app(project, **settings) as client:
        headers = {"x-key": "1"}
        action = "/app/api/__actions/admin/a%20b/act"
        called = await client.post(action, json={}, headers=headers)
        markdown = await client.get("/app/admin/a%20b.md", headers=headers)
    assert called.json() == {
        "ok": True,
        "asked": "/app/admin/a b",
        "raw": "/app/admin/a%20b",
        "at": "http://testserver/app/api/__actions/admin/a b/act",
    }
    assert markdown.text == "hunter2 /app/admin/a b /app/admin/a b.md"


REJECTING = """
    from starlette.responses import PlainTextResponse

    async def refuse(connection):
        return PlainTextResponse("no", 401)
    """


@pytest.mark.parametrize(
    ("files", "boundary"),
    [
        ({"not-found": "", "layout": ""}, "pages/not-found.fxl"),
        ({"not-found": "", "layout": "", "error": ""}, "pages/not-found.fxl"),
        ({"not-found": "", "layout": SECRET, "error": ""}, "pages/error.fxl"),
        ({"not-found": SECRET, "layout": "", "error": ""}, "pages/error.fxl"),
        ({"not-found": SECRET, "layout": ""}, None),
        ({"not-found": "", "layout": SECRET, "error": SECRET}, None),
    ],
)
async def test_a_visitor_whom_a_guard_rejects_gets_the_nearest_page_for_a_404_without_loaders(
    tmp_path: Path, files: dict[str, str], boundary: str | None
) -> None:
    name = f"refusing_{abs(hash(tmp_path))}"
    pages = {
        f"pages/{file}.fxl": page(python, LAYOUT if file == "layout" else PAGE)
        for file, python in files.items()
    }
    write_tree(tmp_path, {f"{name}.py": REJECTING, "pages/index.fxl": page(""), **pages})
    async with open_app(tmp_path, route_middleware={"pages": [f"{name}.refuse"]}) as client:
        payload = await client.load_page("/nowhere")
        html = await client.get("/nowhere")
    assert (payload.status, html.status) == (404, 404)
    assert (payload.error, payload.payload["boundary"]) == (
        "This page could not be found.",
        boundary,
    )
    assert "hunter2" not in html.text + str(payload)


MISTAKES = """
    async def true(request):
        return True

    async def unawaited(request):
        return true(request)

    async def two(request, response):
        return None

    def plain(request):
        return True

    async def own(request):
        return len(None)
    """
ANY = """
    @action
    async def act(request):
        return {}

    async def websocket(ws):
        await ws.accept()
    """


@pytest.fixture
def mistakes(tmp_path: Path) -> tuple[Path, str]:
    name = f"mistakes_{abs(hash(tmp_path))}"
    endpoint = "async def get(request):\n    return {}\n"
    files = {f"{name}.py": MISTAKES, "pages/index.fxl": page(ANY), "pages/api/x.py": endpoint}
    return write_tree(tmp_path, files), name


async def ask_everything(project: Path, hook: str) -> list[str]:
    """Return what the clients of an app learn that is guarded by ``hook``."""
    hooks = {"pages": [hook], "apis": [hook]}
    async with open_app(project, route_middleware=hooks) as client:
        answers = [
            await client.get("/"),
            await client.get("/", headers={"x-fx-navigation": "1"}),
            await client.post("/api/__actions/index/act", json={}),
            await client.get("/api/x"),
        ]
        with pytest.raises(SocketRejected):
            async with client.websocket("/"):
                raise AssertionError("must not open")
    assert {answer.status for answer in answers} == {500}
    return [answer.text for answer in answers]


@pytest.mark.parametrize(
    ("hook", "cause"),
    [
        ("true", "returned True (bool)."),
        ("unawaited", "returned the coroutine true(). Was 'await' forgotten?"),
        (
            "two",
            "cannot be called with the request alone: missing a required argument: 'response'.",
        ),
        ("plain", "returned True (bool)."),
    ],
)
async def test_a_hook_that_is_none_is_named_with_what_it_may_return(
    mistakes: tuple[Path, str], caplog: pytest.LogCaptureFixture, hook: str, cause: str
) -> None:
    project, name = mistakes
    answers = await ask_everything(project, f"{name}.{hook}")
    message = (
        f"route hook '{name}.{hook}': {cause} Make it a function of the request that "
        "returns None to let it continue, or a Response or redirect(…) to respond to it."
    )
    errors = [record for record in caplog.records if record.levelname == "ERROR"]
    assert {(record.getMessage(), record.exc_info) for record in errors} == {(message, None)}
    assert len(errors) == 5
    for answer in answers[1:]:
        assert f"{name}.{hook}" in answer


async def test_a_plain_hook_guards_from_a_thread(tmp_path: Path) -> None:
    name = f"threads_{abs(hash(tmp_path))}"
    hook = """
        import threading
        from starlette.responses import PlainTextResponse

        def guard(request):
            if threading.current_thread() is threading.main_thread():
                raise RuntimeError("the event loop is held")
            if request.headers.get("x-key") != "letmein":
                return PlainTextResponse("no", 403)
        """
    project = write_tree(tmp_path, {f"{name}.py": hook, "pages/index.fxl": page(SECRET)})
    async with open_app(project, route_middleware={"pages": [f"{name}:guard"]}) as client:
        rejected = await client.get("/")
        allowed = await client.get("/", headers={"x-key": "letmein"})
    assert (rejected.status, rejected.text) == (403, "no")
    assert allowed.status == 200
    assert "hunter2" in allowed.text


async def test_what_a_hook_s_own_code_raises_has_a_traceback_of_its_lines(
    mistakes: tuple[Path, str], caplog: pytest.LogCaptureFixture
) -> None:
    project, name = mistakes
    await ask_everything(project, f"{name}.own")
    assert caplog.text.count("Traceback") == 5
    assert caplog.text.count("return len(None)") == 5
    assert "serve/request/hooks.py" not in caplog.text
