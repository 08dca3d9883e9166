"""What `fx dev` answers below `/__fx/`: the tree and the timings, to this machine's pages alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from starlette.responses import PlainTextResponse
from trio.testing import MockClock, wait_all_tasks_blocked

from fxtrio.config import load_config
from fxtrio.develop.report.inside import Inside
from fxtrio.develop.report.request_logs import Records
from fxtrio.develop.serving.allowed_hosts import HostGuard, development_app
from fxtrio.develop.vite.runtime_files import RuntimeFiles
from fxtrio.develop.vite.vite_proxy import Modules
from fxtrio.spans import Spans, span


@attrs.frozen
class Answer:
    status: int
    headers: dict[bytes, bytes]
    text: str


async def ask(guard: HostGuard, path: str, **headers: str) -> Answer:
    """Return what a request for a path gets, or for another path of the app."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    fields = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "headers": [(b"host", b"localhost"), *fields],
        "server": ("127.0.0.1", 8000),
    }
    await guard(scope, receive, send)
    start, *parts = sent
    body = b"".join(part["body"] for part in parts).decode()
    return Answer(start["status"], dict(start["headers"]), body)


@asynccontextmanager
async def developed(root: Path) -> AsyncIterator[HostGuard]:
    """Serve an app whose one loader takes no time, as `fx dev` does."""
    inside, spans = Inside(), Spans()
    spans.add(inside.timings)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        with spans.open_root("request", "GET /book"), span("loader", "pages/book.fxl: load()"):
            await PlainTextResponse("book")(scope, receive, send)

    modules = Modules(root, Records(root), RuntimeFiles(root, ""))
    with inside.open():
        yield development_app(
            app, load_config(root), modules=modules, host="127.0.0.1", inside=inside
        )


async def test_the_tree_and_the_timings_are_pages_and_json(tmp_path: Path) -> None:
    async with developed(tmp_path) as guard:
        response = await ask(guard, "/book")
        tree = await ask(guard, "/__fx/tree")
        data = await ask(guard, "/__fx/tree", accept="application/json")
        timings = await ask(guard, "/__fx/timings")
        missing = await ask(guard, "/__fx/nothing")

    assert response.headers[b"server-timing"].startswith(b"loader0;dur=")
    assert tree.headers[b"content-type"].startswith(b"text/html")
    assert "test_the_tree_and_the_timings_are_pages_and_json" in tree.text
    assert data.text.startswith('{"process":')
    assert "pages/book.fxl: load()" in timings.text
    assert missing.status == 404


@pytest.mark.parametrize("headers", [{"sec_fetch_site": "cross-site"}, {"origin": "http://evil"}])
async def test_pages_of_other_origins_get_neither(tmp_path: Path, headers: dict[str, str]) -> None:
    async with developed(tmp_path) as guard:
        assert (await ask(guard, "/__fx/tree", **headers)).status == 403
        assert (await ask(guard, "/__fx/timings", **headers)).status == 403


async def test_further_browsers_that_watch_are_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fxtrio.plugins.studio.studio.WATCHERS", 0)
    async with developed(tmp_path) as guard:
        answer = await ask(guard, "/__fx/events")
    assert (answer.status, answer.text) == (503, "Too many browsers watch Studio.\n")


async def test_browsers_that_watch_hold_up_no_shutdown(autojump_clock: MockClock) -> None:
    inside, ends = Inside(), list[bool]()

    async def receive() -> Any:
        await trio.sleep_forever()

    async def send(message: Any) -> None:
        ends.append(message.get("more_body") is False)

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            scope = {"type": "http", "method": "GET", "path": "/__fx/events", "headers": []}
            nursery.start_soon(inside.answer, scope, receive, send, "events")
        await wait_all_tasks_blocked()
        assert sum(ends) == 0
        began = trio.current_time()
        inside.close()

    assert sum(ends) == 3
    assert trio.current_time() == began
