"""Plain forms of the auth plugin: a failure shows their page again, and never the password."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fx.testing import Client, open_app
from tests.built import build, open_built
from tests.trees import page, write_tree

FORM = """
export default function Sign({ data, actionData }) {
  return (
    <form method="post" action="/api/__auth/login">
      {actionData && <p role="alert">{actionData.error}</p>}
      {actionData && <p>{JSON.stringify(actionData.fields)}</p>}
      <input name="email" defaultValue={actionData?.values.email} />
      <input name="password" type="password" defaultValue={actionData?.values.password} />
      <input type="hidden" name="next" value={data.next} />
    </form>
  );
}
"""
LOAD = """
    @server
    async def load(request):
        return {"next": request.query_params.get("next", "/")}
    """
SETTINGS = {"argon2": {"timeCost": 1, "memoryKib": 8, "parallelism": 1}}
HTML = {"accept": "text/html"}


GUARDED: dict[str, Any] = {
    "plugins": [{"name": "auth", "settings": SETTINGS}],
    "route_middleware": {"pages": ["fxtrio.plugins.auth.require_user"]},
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {f"pages/{name}.fxl": page(LOAD, FORM) for name in ("login", "register")}
    return build(write_tree(tmp_path_factory.mktemp("forms"), files), **GUARDED)


@pytest.fixture
async def client(project: Path) -> AsyncIterator[Client]:
    async with open_built(project, **GUARDED) as opened:
        yield opened


async def test_a_failed_login_shows_its_page_again_with_what_was_typed(client: Client) -> None:
    typed = {"email": "ada@example.com", "password": "hunter2hunter2", "next": "/notes?q=1"}
    answer = await client.post("/api/__auth/login", data=typed, headers=HTML)
    assert answer.status == 401
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert '<p role="alert">' in answer.text
    assert 'value="ada@example.com"' in answer.text
    assert 'name="next" value="/notes?q=1"' in answer.text
    assert "hunter2" not in answer.text


async def test_a_failed_registration_shows_the_problems_of_its_fields(client: Client) -> None:
    typed = {"email": "nobody", "password": "short"}
    answer = await client.post("/api/__auth/register", data=typed, headers=HTML)
    assert answer.status == 422
    assert "&quot;email&quot;:[" in answer.text
    assert "&quot;password&quot;:[" in answer.text
    assert 'value="nobody"' in answer.text
    assert "short" not in answer.text.replace("too short", "")


async def test_a_body_that_is_rejected_is_reported_on_the_page(client: Client) -> None:
    headers = {**HTML, "content-type": "application/x-www-form-urlencoded"}
    answer = await client.post("/api/__auth/login", content=b"x" * 20_000, headers=headers)
    assert answer.status == 413
    assert '<p role="alert">The body is larger than' in answer.text


async def test_a_browser_that_asks_for_the_endpoint_goes_to_the_page(client: Client) -> None:
    for name, path in (("login", "/login"), ("register", "/register"), ("logout", "/login")):
        answer = await client.get(f"/api/__auth/{name}", headers=HTML)
        assert (answer.status, answer.headers["location"]) == (303, path)
    assert (await client.get("/api/__auth/login")).status == 405


async def test_without_such_a_page_the_browser_is_redirected_to_where_it_may_be(
    tmp_path: Path,
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page("")})
    plugins = [{"name": "auth", "settings": SETTINGS}]
    async with open_app(tmp_path, mode="production", plugins=plugins) as client:
        typed = {"email": "ada@example.com", "password": "hunter2hunter2"}
        answer = await client.post("/api/__auth/login", data=typed, headers=HTML)
    assert answer.status == 303
    assert answer.headers["location"] == "/login?error=credentials"


KEEPS = """
    from fx.runtime import redirect

    async def keep(connection):
        if connection.url.path == "/login":
            return redirect("/closed")

    async def fail(connection):
        raise ValueError("a bug")
    """


@pytest.mark.parametrize("hook", ["keep", "fail"])
async def test_a_rejected_form_does_not_render_a_page_that_a_hook_denies(
    tmp_path: Path, hook: str
) -> None:
    name = f"keeps_{abs(hash(tmp_path))}"
    write_tree(tmp_path, {f"{name}.py": KEEPS, "pages/login.fxl": page(LOAD, FORM)})
    async with open_app(
        tmp_path,
        mode="production",
        plugins=[{"name": "auth", "settings": SETTINGS}],
        route_middleware={"pages": [f"{name}.{hook}"]},
    ) as client:
        typed = {"email": "ada@example.com", "password": "hunter2hunter2"}
        answer = await client.post("/api/__auth/login", data=typed, headers=HTML)
    assert answer.status == 303
    assert "ada@" not in answer.text
