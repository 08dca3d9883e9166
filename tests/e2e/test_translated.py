"""What fxtrio says to visitors in browsers, in German: from the server, and without it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.docs.pages import DOCS, blocks
from tests.e2e.support import Server, fx, served, visit
from tests.e2e.test_guestbook import hydrated
from tests.trees import write_tree

GUIDE = {
    block.file: block.text
    for block in blocks(DOCS / "guides/languages.md")
    if block.file in ("languages.py", "messages.py", "components/messages.js")
    or block.file.startswith("locales/")
}

HOME = """
import attrs


@attrs.frozen
class Order:
    count: int


def HEAD(data):
    return '<html lang="de">'


@action
async def order(request, body: Order):
    return {}


@action
async def fail(request):
    raise RuntimeError("a defect")


@stream
async def news(request):
    yield 1


import { useState } from "react";
import { Form, useAction, useLoader, useStream, useWebSocket } from "fx/client";

function Broken() {
  throw new Error("a defect");
}

export default function Home() {
  const fail = useAction("fail");
  const [on, setOn] = useState("");
  return (
    <main>
      <Form action="order">
        {({ error, fields }) => (
          <>
            <input name="count" defaultValue="many" />
            <button id="order">Order</button>
            <output>{fields.count?.[0] ?? error}</output>
          </>
        )}
      </Form>
      <button id="fail" onClick={() => fail({})}>Fail</button>
      <p id="failed">{fail.error}</p>
      {["socket", "loader", "stream", "broken"].map((one) => (
        <button key={one} id={one} onClick={() => setOn(one)}>{one}</button>
      ))}
      {on === "socket" && <Socket />}
      {on === "loader" && <Loader />}
      {on === "stream" && <Stream />}
      {on === "broken" && <Broken />}
    </main>
  );
}

function Socket() {
  return <p id="lost">{useWebSocket("/closing").error}</p>;
}

function Loader() {
  return <p id="lost">{useLoader("/leads-away").error?.message}</p>;
}

function Stream() {
  return <p id="lost">{useStream("news").error}</p>;
}
"""

FILES = {
    **GUIDE,
    "fx.config.json": '{"translate": "messages:translate", "csp": "enforce"}',
    "pages/layout.fxl": 'import "../components/messages.js";\n\n'
    "export default function Layout({ children }) {\n  return children;\n}\n",
    "pages/index.fxl": HOME,
    "pages/plain.fxl": "export default function Plain() {\n  return <h1>Plain</h1>;\n}\n",
    "pages/closing.fxl": "async def websocket(ws):\n    await ws.accept()\n"
    "    await ws.close(4000)\n\n\nexport default () => null;\n",
    "pages/leads-away.fxl": "from fx.runtime import redirect\n\n\n@server\n"
    'async def load(request):\n    return redirect("/plain")\n\n\nexport default () => null;\n',
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    project = write_tree(tmp_path_factory.mktemp("german"), FILES)
    fx("build", cwd=project)
    with served(project) as server:
        yield server


@pytest.fixture
def page(site: Server, browser: Browser) -> Iterator[Page]:
    visitor = visit(browser)
    visitor.page.set_extra_http_headers({"accept-language": "de"})
    hydrated(visitor, site.url)
    yield visitor.page
    visitor.page.context.close()


def test_messages_of_the_server_are_german(page: Page, site: Server) -> None:
    page.locator("#order").click()
    expect(page.locator("output")).to_have_text("Hier fehlt eine ganze Zahl")
    page.goto(f"{site.url}/nowhere")
    expect(page.locator("body")).to_contain_text("Diese Seite gibt es nicht.")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "Der Server ist nicht erreichbar."),
        (502, "Der Server antwortet mit Status 502."),
    ],
)
def test_a_server_that_does_not_answer_is_named_in_german(
    page: Page, answer: int | None, says: str
) -> None:
    def handle(route: Route) -> None:
        if answer is None:
            route.abort()
        else:
            route.fulfill(status=answer, body="<h1>Bad gateway</h1>")

    page.route("**/api/__actions/**", handle)
    page.locator("#fail").click()
    expect(page.locator("#failed")).to_have_text(says)


def test_what_browsers_find_out_themselves_is_german(page: Page) -> None:
    page.locator("#socket").click()
    expect(page.locator("#lost")).to_have_text("Der Server hat die Verbindung beendet (4000).")
    page.locator("#loader").click()
    expect(page.locator("#lost")).to_have_text("Die Seite leitet weiter zu /plain.")
    page.route("**/*news*", lambda route: route.fulfill(status=404, body="no"))
    page.locator("#stream").click()
    expect(page.locator("#lost")).to_have_text("Der Datenstrom ist nicht lesbar.")
    page.locator("#broken").click()
    expect(page.locator("h1")).to_have_text("Etwas ist schiefgegangen")
    expect(page.locator("[role=alert] p")).to_have_text("Laden Sie die Seite neu.")


def test_a_page_without_scripts_stays_one(page: Page, site: Server) -> None:
    response = page.goto(f"{site.url}/plain")
    assert response is not None
    assert "<script" not in response.text()
