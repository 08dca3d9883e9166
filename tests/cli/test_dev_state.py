"""State that edits leave alone: of components, of the document, of sockets, of Python modules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.in_browser import hydrated, wait_for
from tests.e2e.support import Server, visit
from tests.short import amount

pytestmark = pytest.mark.browser

EDITS = amount(8, long=50)

PAGE = """from itertools import count

import trio
from fx.realtime import Event
from seen import SEEN

VALUE = "data 0"


@server
async def load(request):
    return {"value": VALUE, "seen": len(SEEN)}


async def websocket(ws):
    await ws.accept()
    SEEN.append("socket")
    for number in count(1):
        text = await ws.receive_text()
        await ws.send_text(f"{text} {number}")


@stream
async def ticks(request, after: str | None):
    for number in count(int(after or 0) + 1):
        yield Event(f"tick {number // number}", id=str(number))
        await trio.sleep(0.05)


import { useState } from "react";
import { useStream, useWebSocket } from "fx/client";

export default function Room({ data }) {
  const [clicks, setClicks] = useState(0);
  const [said, setSaid] = useState("");
  const { send, status } = useWebSocket(undefined, { onMessage: setSaid });
  const ticks = useStream("ticks", { limit: 3 });
  return (
    <>
      <h1>text 0</h1>
      <p id="tick">{ticks.last}</p>
      <p id="data">{data.value}</p>
      <p id="seen">{data.seen}</p>
      <p id="status">{status}</p>
      <p id="said">{said}</p>
      <button id="clicks" onClick={() => setClicks(clicks + 1)}>{clicks}</button>
      <button id="say" onClick={() => send("message")}>Say</button>
      <input id="typed" />
      <div style={{ height: "3000px" }} />
    </>
  );
}
"""


@pytest.fixture
def project(project: Path) -> Path:
    (project / "pages/room.fxl").write_text(PAGE, "utf-8")
    (project / "pages/not-found.fxl").write_text(
        "export default () => <h1>No page</h1>;\n", "utf-8"
    )
    (project / "seen.py").write_text("SEEN = [1]\n", "utf-8")
    return project


def test_state_and_sockets_survive_edits_of_both_halves(
    browser: Browser, project: Path, server: Server
) -> None:
    room = project / "pages/room.fxl"
    page = visit(browser).page
    sockets: list[str] = []
    page.on("websocket", lambda opened: sockets.append(opened.url))
    page.goto(f"{server.url}/room")
    hydrated(page)
    expect(page.locator("#status")).to_have_text("open")
    page.locator("#clicks").click()
    page.locator("#typed").fill("half a thought")
    page.evaluate("scrollTo(0, 700); window.marker = 1")

    for number in range(EDITS):
        old, new = f"{number // 2}", f"{number // 2 + 1}"
        text = room.read_text("utf-8")
        if number % 2:
            room.write_text(text.replace(f'"data {old}"', f'"data {new}"'), "utf-8")
            expect(page.locator("#data")).to_have_text(f"data {new}")
        else:
            room.write_text(text.replace(f"text {old}<", f"text {new}<"), "utf-8")
            expect(page.locator("h1")).to_have_text(f"text {new}")
    other = visit(browser).page
    for number in range(amount(3, long=8)):
        other.goto(f"{server.url}/fresh{number}")
        hydrated(other)
        fresh = f"export default () => <h1>fresh {number}</h1>;\n"
        (project / f"pages/fresh{number}.fxl").write_text(fresh, "utf-8")
        expect(other.locator("h1")).to_have_text(f"fresh {number}")

    assert page.evaluate("[scrollY, window.marker]") == [700, 1]
    page.locator("#say").click()
    expect(page.locator("#said")).to_have_text("message 1")
    expect(page.locator("#clicks")).to_have_text("1")
    expect(page.locator("#typed")).to_have_value("half a thought")
    expect(page.locator("#seen")).to_have_text("2")  # the list of the module, with one socket
    assert len([url for url in sockets if url.endswith("/room")]) == 1


def test_a_socket_whose_handler_has_changed_is_opened_again(
    browser: Browser, project: Path, server: Server
) -> None:
    room = project / "pages/room.fxl"
    page = visit(browser).page
    page.goto(f"{server.url}/room")
    expect(page.locator("#status")).to_have_text("open")
    page.locator("#clicks").click()

    text = room.read_text("utf-8")
    room.write_text(text.replace('f"{text} {number}"', 'f"{text} again"'), "utf-8")
    wait_for(server, "1 module run")

    expect(page.locator("#seen")).to_have_text("2")  # the data was fetched anew
    expect(page.locator("#status")).to_have_text("open")
    page.locator("#say").click()
    expect(page.locator("#said")).to_have_text("message again")
    expect(page.locator("#clicks")).to_have_text("1")


def test_a_stream_is_continued_by_new_code(browser: Browser, project: Path, server: Server) -> None:
    room = project / "pages/room.fxl"
    page = visit(browser).page
    page.goto(f"{server.url}/room")
    expect(page.locator("#tick")).to_have_text("tick 1")
    page.locator("#clicks").click()
    text = room.read_text("utf-8")
    room.write_text(text.replace("tick {number // number}", "tock {after}"), "utf-8")
    expect(page.locator("#tick")).to_have_text(re.compile(r"tock \d+"))
    expect(page.locator("#clicks")).to_have_text("1")
