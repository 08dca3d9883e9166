"""`fx dev` with a fresh project and a real browser: what is saved is what is seen."""

from __future__ import annotations

import signal
from functools import partial
from pathlib import Path
from threading import Thread

import httpx
import psutil
import pytest
import trio
from playwright.sync_api import Browser, Response, expect

from fx.testing import open_app
from fxtrio.observe.observer import open_observer
from fxtrio.plugins.studio.sections import SECTIONS, PageContext
from fxtrio.plugins.studio.studio import render_page
from fxtrio.plugins.studio.timings import Timings
from tests.cli.in_browser import edit, hydrated, import_note, open_home, wait_for
from tests.e2e.accessible import assert_accessible
from tests.e2e.support import Server, nodes_of, visit
from tests.trees import page as page_file
from tests.trees import write_tree

pytestmark = pytest.mark.browser


@pytest.mark.shared_dev
def test_a_saved_file_is_seen_without_a_reload_by_hand(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)

    edit(project, "<h1>Notes</h1>", "<h1>My notes</h1>")

    expect(page.locator("h1")).to_have_text("My notes")


@pytest.mark.shared_dev
def test_the_page_keeps_its_state_while_both_halves_change(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    hydrated(page)
    page.get_by_label("New note").fill("half a thought")
    page.evaluate("window.marker = 1")

    edit(project, "<h1>Notes</h1>", "<h1>My notes</h1>")
    expect(page.locator("h1")).to_have_text("My notes")
    edit(project, "NOTES = []", 'NOTES = [note("A page is swapped")]')
    expect(page.get_by_text("A page is swapped")).to_be_visible()
    styles = project / "pages/styles.css"
    styles.write_text(f"{styles.read_text()}\nh1 {{ color: rgb(1, 2, 3) }}\n")
    expect(page.locator("h1")).to_have_css("color", "rgb(1, 2, 3)")
    app = project / "app.py"
    app.write_text(f"{app.read_text()}\nSWITCH = 1\n")
    wait_for(server, "restarting the server process: app: the app is created there")
    edit(project, "A page is swapped", "A page is served again")
    expect(page.get_by_text("A page is served again")).to_be_visible()
    # Settings that cannot be read leave what serves as it is.
    settings = project / "fx.config.json"
    right = settings.read_text()
    settings.write_text('{"timeouts": 5}')
    wait_for(server, "timeouts")
    edit(project, "A page is served again", "A page is swapped still")
    expect(page.get_by_text("A page is swapped still")).to_be_visible()
    settings.write_text(right)
    wait_for(server, "restarting the server process: fx.config.json has changed")
    edit(project, "A page is swapped still", "A page is served again")
    expect(page.get_by_text("A page is served again")).to_be_visible()

    expect(page.get_by_label("New note")).to_have_value("half a thought")
    assert page.evaluate("window.marker") == 1  # the document has never been loaded anew
    fresh = httpx.get(server.url).text
    assert "<h1>My notes</h1>" in fresh
    assert "A page is served again" in fresh
    assert "rgb(1, 2, 3)" in fresh


@pytest.mark.shared_dev
def test_pages_come_and_go_without_a_restart(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    page.goto(f"{server.url}/new")
    expect(page.locator("h1")).to_have_text("Not found")
    hydrated(page)
    file = project / "pages/new.fxl"

    for text in ("One", "Two"):
        file.write_text(f"export default () => <h1>{text}</h1>;\n")
        expect(page.locator("h1")).to_have_text(text)
        file.unlink()
        expect(page.locator("h1")).to_have_text("Not found")

    # A page whose component has no name keeps its state as well, for as long as its hooks stay.
    counting = (
        "import { useRef, useState } from 'react';\n\nexport default () => {\n"
        "  const [count, setCount] = useState(0);\n"
        "  return <h1 onClick={() => setCount(count + 1)}>clicks {count}</h1>;\n};\n"
    )
    file.write_text(counting)
    page.get_by_text("clicks 0").click()
    expect(page.locator("h1")).to_have_text("clicks 1")
    file.write_text(counting.replace("clicks", "kept"))
    expect(page.locator("h1")).to_have_text("kept 1")
    file.write_text(counting.replace("  const", "  useRef(null);\n  const"))
    expect(page.locator("h1")).to_have_text("clicks 0")
    expect(page.locator("fx-overlay")).to_have_count(0)

    assert "started in" not in server.output()


NESTED = (
    "export default () =>\n"
    "  Array.from({ length: 600 }).reduce((inner) => <div>{inner}</div>, <h2>Part</h2>);\n"
)
"""What browsers rearrange (the 513th element) and the proof does not see: only a render does."""


@pytest.mark.shared_dev
def test_a_page_that_a_build_would_send_without_scripts_must_not_change_with_them(
    browser: Browser, server: Server, project: Path
) -> None:
    (project / "pages/nested.fxl").write_text(NESTED)
    (project / "pages/moving.fxl").write_text(
        "import { useEffect, useState } from 'react';\n\nexport default () => {\n"
        "  const [text, setText] = useState('before');\n"
        "  useEffect(() => setText('after'), []);\n  return <h1>{text}</h1>;\n};\n"
    )
    page = visit(browser).page

    page.goto(f"{server.url}/moving")
    expect(page.locator("h1")).to_have_text("after")
    page.goto(f"{server.url}/nested")
    expect(page.locator("#fx-root h2")).to_have_text("Part")

    wait_for(server, "pages/nested.fxl: 'fx build' finds no need for scripts")
    assert "pages/moving.fxl: 'fx build'" not in server.output()


@pytest.mark.shared_dev
def test_an_island_is_a_part_of_its_page_that_takes_updates(
    browser: Browser, server: Server, project: Path
) -> None:
    (project / "components/tally.jsx").write_text(
        "import { useEffect, useState } from 'react';\n\n"
        "export default function Tally({ at }) {\n  const [count, setCount] = useState(0);\n"
        "  useEffect(() => setCount((one) => one || (at ?? 5)), [at]);\n"
        "  return <button onClick={() => setCount(count + 1)}>{`Tally ${count}`}</button>;\n}\n"
    )
    page_file = project / "pages/isle.fxl"
    page_file.write_text(
        "import { Island } from 'fx/client';\nimport Tally from '../components/tally';\n\n"
        'export default () => <main><Island when="visible"><Tally /></Island></main>;\n'
    )
    (project / "pages/nested-isle.fxl").write_text(NESTED)
    visitor = visit(browser)
    page = visitor.page
    page.goto(f"{server.url}/isle")
    button = page.locator("main fx-island button")
    expect(button).to_have_text("Tally 5")
    button.click()
    expect(button).to_have_text("Tally 6")

    tally = project / "components/tally.jsx"
    tally.write_text(tally.read_text().replace("Tally ${", "Count ${"))
    expect(button).to_have_text("Count 6")
    page.goto(f"{server.url}/nested-isle")
    wait_for(server, "pages/nested-isle.fxl: 'fx build' finds no need for scripts")
    assert "pages/isle.fxl: 'fx build'" not in server.output()
    assert [one for one in visitor.complaints if "isle" not in one and "h2" not in one] == []

    page_file.write_text(page_file.read_text().replace("<Tally />", "<Tally at={new Map()} />"))
    page.goto(f"{server.url}/isle")
    wait_for(server, "the property 'at' of <Tally> is a Map, which is not JSON")
    page_file.write_text(page_file.read_text().replace("<Tally at={new Map()} />", "<b>No</b>"))
    wait_for(server, "<b> in an <Island> is not imported from a file")
    page_file.unlink()


_WORKER = """
self.onmessage = ({ data }) => self.postMessage(`worked on ${data}`);
import.meta.hot?.accept();
"""
_OF_WORKER = """
import { useEffect, useState } from "react";
export function Note() {
  const [text, setText] = useState("");
  useEffect(() => {
    const url = new URL("./note-worker.js", import.meta.url);
    const worker = new Worker(url, { type: "module" });
    worker.onmessage = ({ data }) => setText(data);
    worker.postMessage("notes");
    return () => worker.terminate();
  }, []);
  return <b>{text}</b>;
}
"""


@pytest.mark.shared_dev
def test_a_worker_may_take_updates(browser: Browser, server: Server, project: Path) -> None:
    (project / "components/note-worker.js").write_text(_WORKER, "utf-8")
    (project / "components/note.jsx").write_text(_OF_WORKER, "utf-8")
    page = open_home(browser, server)
    hydrated(page)

    import_note(project)
    edit(project, "<h1>Notes</h1>", "<h1>Notes <Note /></h1>")

    expect(page.locator("h1 b")).to_have_text("worked on notes")


@pytest.mark.shared_dev
def test_the_starter_works_without_complaints_of_the_browser(
    browser: Browser, server: Server
) -> None:
    visitor = visit(browser)
    page = visitor.page
    page.goto(server.url)

    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("alert")).to_have_text("Write something first.")
    page.get_by_label("New note").fill("hello there")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("hello there")).to_be_visible()
    page.get_by_role("link", name="About").click()
    expect(page.locator("h1")).to_have_text("About")
    expect(page).to_have_title("About · shop")

    # Browsers report the answer to the empty note, a 422, whatever a page makes of it.
    failures = "error: Failed to load resource: the server responded with a status of 422"
    assert [text for text in visitor.complaints if not text.startswith(failures)] == []


@pytest.mark.own_interpreter  # each process is one that `fx dev` has started
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, id="Ctrl-C", marks=pytest.mark.nightly),
        pytest.param(signal.SIGHUP, id="hangup"),
    ],
)
def test_the_end_leaves_nothing(server: Server, number: signal.Signals) -> None:
    [node] = nodes_of(server.process.pid)
    psutil.Process(node).kill()  # as the system does for want of memory
    assert "<h1>Notes</h1>" in httpx.get(server.url, timeout=60).text
    started = psutil.Process(server.process.pid).children(recursive=True)
    assert len(started) > 1
    [node] = nodes_of(server.process.pid)
    listening = psutil.Process(node).net_connections("unix")
    [sockets] = {Path(one.laddr).parent for one in listening if "fxtrio-dev-" in str(one.laddr)}
    assert sockets.exists()

    server.process.send_signal(number)

    assert server.process.wait(60) == 0
    assert not sockets.exists()
    assert [process for process in started if process.is_running()] == []


@pytest.mark.shared_dev
def test_a_removed_page_and_its_component_leave_no_errors(
    browser: Browser, server: Server, project: Path
) -> None:
    card, new = project / "card.jsx", project / "pages/new.fxl"
    card.write_text("export const Card = () => <b>card</b>;\n")
    new.write_text("import { Card } from '../card';\n\nexport default () => <h1><Card /></h1>;\n")
    page = visit(browser).page
    page.goto(f"{server.url}/new")
    expect(page.locator("h1")).to_have_text("card")
    hydrated(page)
    failures: list[str] = []

    def note(answer: Response) -> None:
        if "/_fx/pages/" in answer.url and not answer.ok:
            failures.append(answer.url)

    page.on("response", note)

    new.unlink()
    expect(page.locator("h1")).to_have_text("Not found")
    card.unlink()
    page.get_by_role("link", name="Notes").first.click()
    edit(project, "<h1>Notes</h1>", "<h1>My notes</h1>")
    expect(page.locator("h1")).to_have_text("My notes")

    assert failures == []
    expect(page.locator("fx-overlay")).to_have_count(0)


@pytest.mark.shared_dev
def test_the_overlay_shows_where_the_time_of_each_request_went(
    browser: Browser, server: Server
) -> None:
    page = open_home(browser, server)
    hydrated(page)
    page.keyboard.press("Alt+Shift+W")
    panel = page.get_by_role("dialog", name="Requests")
    expect(panel.get_by_text("loader pages/index.fxl: load()")).to_have_count(1)
    expect(panel.get_by_text("render pages/index.fxl")).to_have_count(1)
    assert_accessible(page)

    page.get_by_label("New note").fill("timed")
    page.get_by_label("New note").press("Enter")
    expect(panel.locator("summary", has_text="POST /")).to_have_count(1)

    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)


@pytest.mark.shared_dev
@pytest.mark.parametrize("name", [name for name in SECTIONS if name != "database"])
def test_pages_of_studio_are_accessible(browser: Browser, server: Server, name: str) -> None:
    page = open_home(browser, server)
    page.goto(f"{server.url}/__fx/{name}")
    for summary in page.locator("summary").all()[:3]:
        summary.click()

    assert_accessible(page)


async def render_database_page(root: Path, **query: str) -> str:
    """Return Studio's page of a database with a table, as `fx dev` serves it."""
    files = {
        "pages/index.fxl": page_file(""),
        "migrations/0001_books.sql": "create table books (id integer primary key, title text);"
        "insert into books (title) values ('Dune'), ('A title that is as long as titles get');",
    }
    write_tree(root, files)
    async with open_app(root, database={"url": "sqlite:///app.db"}) as client:
        with open_observer() as loop:
            context = PageContext(client.app, Timings(), loop, True, {"headers": []}, query)
            return await render_page("database", context, "/__fx") or ""


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("select id, title, hex(zeroblob(90)) as long from books", "Dune"),
        ("select x from nowhere", "no such table"),
    ],
)
def test_the_page_of_the_database_is_accessible(
    browser: Browser, tmp_path: Path, sql: str, text: str
) -> None:
    found: list[str] = []

    def render() -> None:
        found.append(trio.run(partial(render_database_page, tmp_path, sql=sql)))

    # In a thread of its own, since Playwright's event loop belongs to this one.
    thread = Thread(target=render)
    thread.start()
    thread.join()
    page = browser.new_context().new_page()
    page.set_content(found[0])

    expect(page.get_by_text(text).first).to_be_visible()
    assert_accessible(page)
