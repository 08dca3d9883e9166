"""What a channel lost, in a browser: the broker goes and comes back, and so does the socket."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.support import Server, fx, served, visit
from tests.realtime.redis_server import RedisServer, running_redis
from tests.trees import write_tree

STOCK = """
from fx.realtime import channel, publish

connections = []

async def websocket(ws):
    await ws.accept()
    connections.append(ws)
    async with channel(ws, "stock"):
        await ws.send_json({"joined": True})
        async for text in ws.iter_text():
            if text == "leave":
                return await ws.close(1012)

@action
async def tell(request):
    return {"told": await publish("stock", {"n": (await request.json())["n"]})}

import { useState } from "react";
import { useAction, useWebSocket } from "fx/client";

export default function Stock() {
  const [lines, setLines] = useState([]);
  const [joined, setJoined] = useState(false);
  const add = (line) => setLines((known) => [...known, line]);
  const socket = useWebSocket(undefined, {
    onMessage: (message) => (message.joined ? setJoined(true) : add(`got ${message.n}`)),
    onMissed: ({ count }) => add(`missed ${count}`),
  });
  const tell = useAction("tell");
  const [n, setN] = useState(0);
  return (
    <>
      <p role="status">{joined ? socket.status : "joining"}</p>
      <button onClick={() => { setN(n + 1); tell({ n }); }}>Tell</button>
      <button onClick={() => socket.send("leave")}>Leave</button>
      <ol>{lines.map((line, index) => <li key={index}>{line}</li>)}</ol>
    </>
  );
}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("missed")
    write_tree(folder, {"pages/index.fxl": STOCK})
    fx("build", cwd=folder)
    return folder


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    with running_redis(tmp_path) as server:
        yield server


def listed(page: Page) -> list[str]:
    return page.get_by_role("listitem").all_inner_texts()


def serving(project: Path, redis: RedisServer, history: int) -> Iterator[Server]:
    broker = {"FX_REALTIME__BROKER": redis.url, "FX_REALTIME__HISTORY": str(history)}
    with served(project, env=broker) as server:
        yield server


@pytest.fixture
def keeping(project: Path, redis: RedisServer) -> Iterator[Server]:
    yield from serving(project, redis, 1000)


@pytest.fixture
def forgetting(project: Path, redis: RedisServer) -> Iterator[Server]:
    yield from serving(project, redis, 0)


def open_page(browser: Browser, server: Server) -> Page:
    page = visit(browser).page
    page.goto(server.url)
    expect(page.get_by_role("status")).to_have_text("open")
    return page


def tell(page: Page, expected: str) -> None:
    page.get_by_role("button", name="Tell").click()
    expect(page.get_by_role("listitem").last).to_have_text(expected)


def test_a_break_that_the_log_makes_good_is_no_matter(
    keeping: Server, redis: RedisServer, browser: Browser
) -> None:
    page = open_page(browser, keeping)
    tell(page, "got 0")
    redis.cut()
    tell(page, "got 1")
    assert listed(page) == ["got 0", "got 1"]


def test_a_loss_at_the_broker_is_reported_between_the_messages(
    forgetting: Server, redis: RedisServer, browser: Browser
) -> None:
    page = open_page(browser, forgetting)
    tell(page, "got 0")
    redis.cut()
    expect(page.get_by_role("listitem").last).to_have_text("missed null")
    tell(page, "got 1")
    assert listed(page) == ["got 0", "missed null", "got 1"]


def test_a_redis_that_was_killed_is_reported_when_it_is_back(
    keeping: Server, redis: RedisServer, browser: Browser
) -> None:
    page = open_page(browser, keeping)
    tell(page, "got 0")
    redis.kill()
    redis.start()
    expect(page.get_by_role("listitem").last).to_have_text("missed null")
    tell(page, "got 1")
    assert listed(page) == ["got 0", "missed null", "got 1"]
    assert "Traceback" not in keeping.output()


def test_a_reconnection_is_reported_as_well(keeping: Server, browser: Browser) -> None:
    page = open_page(browser, keeping)
    tell(page, "got 0")
    page.get_by_role("button", name="Leave").click()
    expect(page.get_by_role("listitem").last).to_have_text("missed null")
    tell(page, "got 1")
    assert listed(page) == ["got 0", "missed null", "got 1"]
