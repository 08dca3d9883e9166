"""Forms without JavaScript that are refused: pages of the site, and nothing of what is guarded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio
from starlette.types import Message
from trio.testing import MockClock

from fx.testing import Client, open_app
from tests.built import build, open_built
from tests.trees import page, write_tree

pytestmark = pytest.mark.node

HOOKS = """
    import trio
    from starlette.exceptions import HTTPException
    from starlette.responses import JSONResponse
    from fx.runtime import ActionError, LoaderError

    async def keep(connection):
        match connection.headers.get("x-how", ""):
            case "json":
                headers = {"www-authenticate": "Form"}
                return JSONResponse({"ok": False, "error": "Who are you?"}, 401, headers)
            case "detail":
                return JSONResponse({"detail": "Not you."}, 403)
            case "loader":
                raise LoaderError("Not here.", 403)
            case "action":
                raise ActionError("Not now.", 429)
            case "http":
                raise HTTPException(402, "Pay first.")
            case "bug":
                raise ValueError("a bug")
            case "slow":
                await trio.sleep(3600)
    """
SECRET = """
    @server
    async def load(request):
        return {"secret": "hunter2", "q": request.query_params.get("q")}
    """
PAGE = (
    SECRET
    + """
    import attrs

    @attrs.define
    class Body:
        name: str

    @action
    async def save(request, body: Body):
        return {}

    @action
    async def fail(request):
        raise ActionError(f"no: {request.query_params.get('q')}", 409)

    @action
    async def expired(request):
        raise ActionError("Sign in first.", 401)
    """
)
UI = """
import { Form } from 'fx/client';

export default function Page({ data }) {
  return (
    <main>
      <Form action="save"><input name="name" /></Form>
      <p>{data.q}</p>
    </main>
  );
}
"""
ERROR = """
export default function Oops({ error }) {
  return <p>{`oops ${error.statusCode}: ${error.message}`}</p>;
}
"""
LOGIN = """
    @action
    async def enter(request):
        raise ActionError("Wrong password.", 401)
    """
HTML = {"accept": "text/html,application/xhtml+xml", "content-type": "text/plain"}
FORM = {**HTML, "content-type": "application/x-www-form-urlencoded"}


def write(root: Path) -> Path:
    name = f"refusing_{abs(hash(root))}"
    files = {
        f"{name}.py": HOOKS,
        "pages/login.fxl": page(LOGIN),
        "pages/error.fxl": ERROR,
        "pages/notes/layout.fxl": page(
            SECRET, "export default function Layout({ children }) { return children; }\n"
        ),
        "pages/notes/error.fxl": ERROR,
        "pages/notes/[id].fxl": page(PAGE, UI),
    }
    return write_tree(root, files)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write(tmp_path_factory.mktemp("built"))
    return build(root, **settings(root))


def settings(project: Path, **more: Any) -> dict[str, Any]:
    name = next(path.stem for path in project.glob("refusing_*.py"))
    return {"route_middleware": {"pages": [f"{name}.keep"]}, **more}


URL = "/api/__actions/notes/5/save"


REJECTIONS: tuple[tuple[dict[str, str], int, str], ...] = (
    ({"x-how": "json"}, 401, "Who are you?"),
    ({"x-how": "detail"}, 403, "Not you."),
    ({"x-how": "loader"}, 403, "Not here."),
    ({"x-how": "action"}, 429, "Not now."),
    ({"x-how": "http"}, 402, "Pay first."),
    ({"x-how": "bug"}, 500, "An unexpected error occurred."),
    ({"x-how": "slow"}, 504, "The action took too long."),
    ({"sec-fetch-site": "cross-site"}, 403, "CSRF check failed: the request is"),
)
"""Headers of a request, and its answer. A build is for many, since it takes a second."""


async def test_who_is_rejected_sees_an_error_page_without_the_guarded_data(
    project: Path, autojump_clock: MockClock
) -> None:
    autojump_clock.autojump_threshold = 0.1  # node renders
    quick = {"timeouts": {"action": 2}}  # the clock waits so long before each of its jumps
    async with open_app(project, render=True, **settings(project, **quick)) as client:
        for headers, status, message in REJECTIONS:
            answer = await client.post(URL, content=b"name=A", headers={**FORM, **headers})
            as_json = {**FORM, "accept": "*/*", **headers}
            called = await client.post(URL, content=b"name=A", headers=as_json)
            assert answer.status == called.status == status, headers
            assert answer.headers["content-type"] == "text/html; charset=utf-8"
            assert f"oops {status}: {message}" in answer.text
            assert "hunter2" not in answer.text
            assert called.headers["content-type"] == "application/json"
            if headers.get("x-how") == "json":
                assert answer.headers["www-authenticate"] == "Form"


async def test_a_body_that_is_rejected_is_reported_on_an_error_page_of_the_page(
    built: Path,
) -> None:
    limits = {"limits": {"body": 100}}
    async with open_built(built, **settings(built, **limits)) as client:
        for content, more, message in (
            (b"x" * 200, {}, "The body is larger than 100 bytes."),
            (b"x", {"content-length": "9" * 9}, "The body is larger"),
        ):
            answer = await client.post(URL, content=content, headers={**FORM, **more})
            assert answer.status == 413
            assert f"oops 413: {message}" in answer.text


async def test_a_body_that_cannot_be_read_is_reported_on_the_page_itself(built: Path) -> None:
    async with open_built(built, **settings(built)) as client:
        for content, kind, status in (
            (b"--b\r\nbroken", "multipart/form-data; boundary=b", 422),
            (b"name=A", f"{FORM['content-type']}; charset=utf-7", 415),
            (b"name=A", "text/plain", 415),
            (b"", FORM["content-type"], 422),
        ):
            headers = {**FORM, "content-type": kind}
            answer = await client.post(f"{URL}?q=kept", content=content, headers=headers)
            assert answer.status == status, kind
            assert answer.headers["content-type"] == "text/html; charset=utf-8"
            assert "<p>kept</p>" in answer.text


async def test_a_body_that_comes_too_slowly_is_reported_on_an_error_page(
    project: Path, autojump_clock: MockClock
) -> None:
    async with open_app(project, mode="production", **settings(project)) as client:
        sent: list[Any] = []

        async def receive() -> Message:
            await trio.sleep_forever()
            raise AssertionError

        async def send(message: Message) -> None:
            sent.append(message)

        headers = {**FORM, "sec-fetch-site": "same-origin"}
        scope = {**client.scope("http", URL, headers), "method": "POST"}
        await client.app(scope, receive, send)
    assert sent[0]["status"] == 408
    assert b"too long to arrive" in sent[1]["body"]
    assert b"<html" in sent[1]["body"]


async def test_the_query_of_a_page_survives_its_form(built: Path) -> None:
    async with open_built(built, **settings(built)) as client:
        form_page = await client.get("/notes/5?q=a%26b&p=2")
        assert 'action="/api/__actions/notes/5/save?q=a%26b&amp;p=2"' in form_page.text
        url = f"{URL}?q=a%26b&p=2"
        done = await client.post(url, content=b"name=A", headers=FORM)
        failed = await client.post(url, content=b"x=A", headers=FORM)
        reloaded = await client.get(url, headers={"accept": "text/html"})
    assert (done.status, done.headers["location"]) == (303, "/notes/5?q=a%26b&p=2")
    assert failed.status == 422
    assert "<p>a&amp;b</p>" in failed.text
    assert 'action="/api/__actions/notes/5/save?q=a%26b&amp;p=2"' in failed.text
    assert reloaded.headers["location"] == "/notes/5?q=a%26b&p=2"


@pytest.mark.parametrize(
    "query", ["//evil.example/", "next=https://evil.example", "%0d%0aset-cookie:a=b", "\x7f\xff"]
)
async def test_a_query_leads_nowhere_but_to_the_page(project: Path, query: str) -> None:
    async with open_app(project, **settings(project)) as client:
        scope = {**client.scope("http", URL, {**FORM, "sec-fetch-site": "none"}), "method": "POST"}
        scope["query_string"] = query.encode("latin-1")
        sent: list[Any] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"name=A", "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        await client.app(scope, receive, send)
    location = dict(sent[0]["headers"])[b"location"]
    assert location.startswith(b"/notes/5?")
    assert location.isascii()
    assert not any(byte <= 0x20 or byte == 0x7F for byte in location)


AUTH = {
    "plugins": [
        {"name": "auth", "settings": {"argon2": {"timeCost": 1, "memoryKib": 8, "parallelism": 1}}}
    ]
}


async def login_of(client: Client, url: str, **headers: str) -> Any:
    return await client.post(url, content=b"name=A", headers={**FORM, **headers})


async def test_a_visitor_whose_session_has_ended_is_redirected_to_the_login_page(
    project: Path,
) -> None:
    async with open_app(project, **settings(project, **AUTH)) as client:
        for url, headers in (
            (f"{URL}?q=a%26b", {"x-how": "json"}),
            ("/api/__actions/notes/5/expired?q=a%26b", {}),
        ):
            plain = await login_of(client, url, **headers)
            called = await login_of(client, url, accept="application/json", **headers)
            assert plain.status == 303
            assert plain.headers["location"] == "/login?next=/notes/5%3Fq%3Da%2526b"
            assert called.status == 401
            assert called.json()["redirect"] == "/login?next=/notes/5%3Fq%3Da%2526b"


async def test_the_login_page_is_where_one_signs_in_so_it_shows_what_was_wrong(
    project: Path,
) -> None:
    async with open_app(project, **settings(project, **AUTH)) as client:
        answer = await login_of(client, "/api/__actions/login/enter")
        called = await login_of(client, "/api/__actions/login/enter", accept="*/*")
    assert answer.status == 401
    assert "Wrong password." in answer.text
    assert called.json() == {"ok": False, "error": "Wrong password."}


async def test_who_asks_too_often_sees_an_error_page(project: Path) -> None:
    rates = [{"route": "/notes/[id]", "limit": "1/hour"}]
    async with open_app(project, **settings(project, rate_limits=rates)) as client:
        await client.post(URL, content=b"name=A", headers=FORM)
        answer = await client.post(URL, content=b"name=A", headers=FORM)
        called = await client.post(URL, json={"name": "A"})
    assert (answer.status, called.status) == (429, 429)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "Too many requests." in answer.text
    assert "hunter2" not in answer.text
    assert answer.headers["retry-after"].isdigit()


async def test_without_the_plugin_a_401_is_an_error_page(project: Path) -> None:
    async with open_app(project, **settings(project)) as client:
        answer = await login_of(client, URL, **{"x-how": "json"})
    assert (answer.status, "location" in answer.headers) == (401, False)
