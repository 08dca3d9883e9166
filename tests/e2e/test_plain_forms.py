"""Forms of a browser without JavaScript, and an expired session in one with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.support import Server, fx, served, visit
from tests.trees import page, write_tree

FORM = """
import { Form } from 'fx/client';

export default function Page({ data }) {
  return (
    <main>
      <h1>{`Notes of ${data.day}`}</h1>
      <Form action="add">
        {({ error, values }) => (
          <>
            <input name="note" aria-label="Note" defaultValue={values.note} />
            <button>Add</button>
            <p role="alert">{error}</p>
          </>
        )}
      </Form>
    </main>
  );
}
"""
PAGE = """
    @server
    async def load(request):
        return {"day": request.query_params.get("day", "today")}

    @action
    async def add(request):
        note = (await request.json())["note"]
        if note == "expired":
            raise ActionError("Your session has ended.", 401)
        if len(note) < 3:
            raise ActionError("That is too short.")
        return {}
    """
ERROR = """
export default function Oops({ error }) {
  return <h1>{`${error.statusCode}: ${error.message}`}</h1>;
}
"""
LOGIN = """
export default function Login({ actionData }) {
  return (
    <form method="post" action="/api/__auth/login">
      <h1>Sign in</h1>
      <p role="alert">{actionData?.error}</p>
      <input name="email" aria-label="Email" defaultValue={actionData?.values.email} />
      <input name="password" aria-label="Password" type="password" />
      <button>Enter</button>
    </form>
  );
}
"""
CONFIG = '{"plugins": [{"name": "auth"}], "limits": {"body": 1000}}'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    project: Path = tmp_path_factory.mktemp("forms")
    files = {"pages/index.fxl": page(PAGE, FORM), "pages/error.fxl": ERROR}
    write_tree(project, {**files, "pages/login.fxl": LOGIN, "fx.config.json": CONFIG})
    fx("build", cwd=project)
    with served(project) as server:
        yield server


def test_a_form_without_javascript_stays_on_its_page_and_keeps_what_was_typed(
    site: Server, browser: Browser
) -> None:
    tab = visit(browser, javascript=False).page
    tab.goto(f"{site.url}/?day=Monday")
    tab.get_by_label("Note").fill("ab")
    tab.get_by_role("button").click()
    expect(tab.get_by_role("alert")).to_have_text("That is too short.")
    expect(tab.get_by_role("heading")).to_have_text("Notes of Monday")
    expect(tab.get_by_label("Note")).to_have_value("ab")
    tab.get_by_label("Note").fill("abc")
    tab.get_by_role("button").click()
    expect(tab).to_have_url(f"{site.url}/?day=Monday")
    tab.get_by_label("Note").fill("x" * 2000)
    tab.get_by_role("button").click()
    expect(tab.get_by_role("heading")).to_have_text("413: The body is larger than 1 KB.")


def test_a_failed_login_without_javascript_shows_its_page_again(
    site: Server, browser: Browser
) -> None:
    tab = visit(browser, javascript=False).page
    tab.goto(f"{site.url}/login")
    tab.get_by_label("Email").fill("ada@example.com")
    tab.get_by_label("Password").fill("hunter2hunter2")
    tab.get_by_role("button").click()
    expect(tab.get_by_role("alert")).not_to_be_empty()
    expect(tab.get_by_label("Email")).to_have_value("ada@example.com")
    expect(tab.get_by_label("Password")).to_have_value("")


@pytest.mark.parametrize("javascript", [True, False])
def test_a_visitor_whose_session_has_ended_is_redirected_to_the_login_page(
    site: Server, browser: Browser, javascript: bool
) -> None:
    tab = visit(browser, javascript=javascript).page
    tab.goto(f"{site.url}/?day=Monday", wait_until="networkidle")
    tab.get_by_label("Note").fill("expired")
    tab.get_by_role("button").click()
    expect(tab).to_have_url(f"{site.url}/login?next=/%3Fday%3DMonday")
    expect(tab.get_by_role("heading")).to_have_text("Sign in")
