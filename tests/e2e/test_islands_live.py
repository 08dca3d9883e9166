"""Islands that are connected, search, or come back: what a page holds besides its HTML."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.islands_site import COUNTER
from tests.e2e.support import Server, fx, served, visit
from tests.fonts.small_font import small_font
from tests.trees import page, write_tree

PARTS = """
import { useState } from 'react';
import { Font, Form, useSearchParams, useWebSocket } from 'fx/client';
import wide from './wide.woff2?font';

export function Echo() {
  const { status, lastMessage, send } = useWebSocket();
  return (
    <p>
      <button onClick={() => send({ text: 'tea' })}>Send</button>
      <b role="status">{`${status} ${lastMessage?.text ?? ''}`}</b>
    </p>
  );
}
export function Search() {
  return (
    <Form method="get">
      <input name="q" aria-label="Search" defaultValue={useSearchParams().get('q') ?? ''} />
      <button>Find</button>
    </Form>
  );
}
export function Lettered() {
  const [shown, setShown] = useState(false);
  return (
    <p>
      <Font src={wide} />
      <button onClick={() => setShown(true)}>Show</button>
      {shown && <span id="wide" style={{ fontFamily: wide.family }}>Wide</span>}
    </p>
  );
}
"""
INDEX = page(
    """
    @server
    async def load(request):
        return {"q": request.query_params.get("q", "nothing")}

    async def websocket(ws):
        await ws.accept()
        while True:
            message = await ws.receive_json()
            await ws.send_json({"text": f"{message['text']} heard"})
    """,
    """
    import { Island, Link } from 'fx/client';
    import Counter from '../components/counter';
    import { Echo, Lettered, Search } from '../components/parts';

    export default ({ data }) => (
      <main>
        <h1>{`Found ${data.q}`}</h1>
        <Island><Echo /></Island>
        <Island><Search /></Island>
        <Island><Lettered /></Island>
        <Island><Counter /></Island>
        <a href="/about" rel="external">About</a>
      </main>
    );
    """,
)
FILES = {
    "components/counter.jsx": COUNTER,
    "components/parts.jsx": PARTS,
    "pages/index.fxl": INDEX,
    "pages/about.fxl": "export default () => <h1>About</h1>;",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root: Path = tmp_path_factory.mktemp("islands-live")
    write_tree(root, FILES)
    (root / "components/wide.woff2").write_bytes(small_font("Wide", width=1000))
    fx("build", cwd=root)
    with served(root) as server:
        yield server


def test_an_island_talks_to_the_websocket_of_its_page(site: Server, browser: Browser) -> None:
    visitor = visit(browser)
    visitor.page.goto(site.url)
    status = visitor.page.get_by_role("status")
    expect(status).to_have_text("open ")
    visitor.page.get_by_role("button", name="Send").click()
    expect(status).to_have_text("open tea heard")
    assert visitor.complaints == []


def test_a_form_of_an_island_changes_the_query_of_the_page(site: Server, browser: Browser) -> None:
    visitor = visit(browser)
    page = visitor.page
    page.goto(site.url)
    page.get_by_label("Search").fill("tea & milk")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_role("heading")).to_have_text("Found tea & milk")
    expect(page).to_have_url(f"{site.url}/?q=tea+%26+milk")
    expect(page.get_by_label("Search")).to_have_value("tea & milk")
    assert visitor.complaints == []


def test_a_font_of_an_island_is_loaded_and_used(site: Server, browser: Browser) -> None:
    visitor = visit(browser)
    page = visitor.page
    page.goto(site.url)
    show = page.get_by_role("button", name="Show")
    show.click()
    expect(page.locator("#wide")).to_be_visible()
    page.wait_for_function("[...document.fonts].some((one) => one.status === 'loaded')")
    assert visitor.complaints == []


def test_islands_live_on_when_the_browser_shows_a_stored_page_again(
    site: Server, browser: Browser
) -> None:
    # The shell that tests run in stores no pages: these are the events of a browser that does.
    visitor = visit(browser)
    page = visitor.page
    page.goto(site.url)
    count = page.get_by_role("button", name="Count")
    count.click()
    expect(count).to_have_text("Count 1")
    expect(page.get_by_role("status")).to_have_text("open ")
    for name in ("pagehide", "pageshow"):
        page.evaluate(
            "name => dispatchEvent(new PageTransitionEvent(name, { persisted: true }))", name
        )
    expect(count).to_have_text("Count 1")
    count.click()
    expect(count).to_have_text("Count 2")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("status")).to_have_text("open tea heard")
    page.get_by_label("Search").fill("tea")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_role("heading")).to_have_text("Found tea")
    assert visitor.complaints == []
