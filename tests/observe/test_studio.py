"""Studio: its pages, who sees them, that they keep secrets, and that memory stays flat."""

from __future__ import annotations

import json
import re
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from fx.realtime import Event
from fx.testing import open_app
from fxtrio.observe.observer import open_observer
from fxtrio.plugins.protocol import PluginFailed
from fxtrio.plugins.studio.sections import SECTIONS, PageContext
from fxtrio.plugins.studio.studio import Watchers, render_page
from fxtrio.plugins.studio.timings import Timings
from tests.trees import page, write_tree

CANARY = "canary-9c41"
PAGE = """
    from fx.db import db
    from fx.realtime import publish

    @server
    async def load(request):
        await db.execute("create table if not exists secrets (text text)")
        await db.execute("insert into secrets values ($1)", request.query_params["token"])
        await publish("news", {"secret": request.cookies["session"]})
        return {}

    @action
    async def save(request):
        return await request.json()

    @stream
    async def ticks(request):
        yield request.cookies["session"]
    """
HOOKS = """
    from fx.runtime import redirect
    from starlette.responses import PlainTextResponse

    async def operators(request):
        if request.headers.get("authorization") != "Bearer right":
            return PlainTextResponse("Not you.", 403)

    async def members(request):
        if request.url.path == "/members":
            return redirect("/login?next=1")
    """
RIGHT = {"authorization": "Bearer right"}
PATHS = [name for name in SECTIONS if name != "database"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "pages/index.fxl": page(PAGE),
        "pages/members.fxl": page("@server\nasync def load(request):\n    return {}\n"),
        f"hooks_{tmp_path.name}.py": HOOKS,
        "fx.config.json": json.dumps({"timeouts": {"loader": 7}}),
    }
    return write_tree(tmp_path, files)


def settings(root: Path) -> dict[str, Any]:
    hooks = f"hooks_{root.name}"
    return {
        "plugins": [{"name": "studio", "settings": {"guard": f"{hooks}:operators"}}],
        "database": {"url": "sqlite:///app.db"},
        "route_middleware": {"pages": [f"{hooks}:members"]},
        "secret_keys": (CANARY * 4,),
    }


async def test_only_those_whom_the_guard_admits_see_it(root: Path) -> None:
    async with open_app(root, **settings(root)) as client:
        for path in ("", "/requests", "/page.js", "/events", "/settings"):
            assert (await client.get(f"/_studio{path}")).status == 403
        answer = await client.get("/_studio", headers=RIGHT)
        assert (await client.get("/_studio/database", headers=RIGHT)).status == 404
        assert (await client.get("/_studio/nothing", headers=RIGHT)).status == 404

    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in answer.headers["content-security-policy"]


async def test_its_events_count_as_streams_of_the_process(root: Path) -> None:
    chosen = {**settings(root), "limits": {"streams": 1}}
    async with open_app(root, **chosen) as client:
        async with client.stream("GET", "/_studio/events", headers=RIGHT) as first:
            second = await client.get("/_studio/events", headers=RIGHT)

    assert first.status == 200
    assert second.status == 503
    assert "limits.streams: 1 streams are open" in second.text


async def test_watchers_of_its_events_end_with_the_app(
    root: Path, autojump_clock: MockClock
) -> None:
    async with open_app(root, **settings(root)) as client, AsyncExitStack() as stack:
        watched = [
            await stack.enter_async_context(client.stream("GET", "/_studio/events", headers=RIGHT))
            for _ in range(5)
        ]
        client.app.begin_shutdown()
        began = trio.current_time()
        for one in watched:
            assert [chunk async for chunk in one] == [b"retry: 2000\n\n"]
        assert trio.current_time() == began
        assert client.app.state.fx.statistics["streams"]() == 0


async def test_no_page_shows_a_secret_and_each_is_small(root: Path) -> None:
    headers = {"authorization": f"Bearer {CANARY}"}
    async with open_app(root, **settings(root)) as client:
        client.cookies["session"] = CANARY
        await client.get(f"/?token={CANARY}", headers=headers)
        await client.post("/api/__actions/index/save", json={"p": CANARY}, headers=headers)
        async with client.read_stream("/", "ticks", headers=headers) as ticks:
            assert [event.data async for event in ticks if isinstance(event, Event)] == [CANARY]
        pages = {name: (await client.get(f"/_studio/{name}", headers=RIGHT)).text for name in PATHS}
        script = (await client.get("/_studio/page.js", headers=RIGHT)).body

    assert "pages/index.fxl: load()" in pages["requests"]
    assert "<th scope=row>stream</th><td>pages/index.fxl: ticks()" in pages["requests"]
    assert "insert into secrets values ($1)" in pages["requests"]
    assert "GET /_studio" not in pages["requests"]
    assert "« GET /_studio" in pages["tree"]
    assert "timeouts.loader</td>" in pages["settings"]
    assert CANARY not in "".join(pages.values())
    assert max(len(text) for text in pages.values()) + len(script) < 60_000


LIVE = """
    import trio
    from fx.jobs import job
    from fx.realtime import channel

    @job(retries=0, queue="mail")
    async def send(to):
        raise RuntimeError(f"no mail server for {to}")

    @action
    async def order(request):
        await send.enqueue((await request.json())["to"])
        return {}

    async def websocket(ws):
        await ws.accept()
        async with channel(ws, "room", member=ws.query_params["name"]):
            await ws.send_text("here")
            await trio.sleep_forever()
    """


async def test_the_tree_has_jobs_and_members_without_their_values(
    root: Path, autojump_clock: MockClock
) -> None:
    write_tree(root, {"pages/live.fxl": page(LIVE)})
    async with open_app(root, **settings(root)) as client:
        assert (await client.action("/live", "order", {"to": CANARY})).ok
        await trio.sleep(1)
        async with client.websocket(f"/live?name={CANARY}") as socket:
            assert await socket.receive() == "here"
            (member,) = client.app.state.fx_broker.members("room")
            jobs = (await client.get("/_studio/jobs", headers=RIGHT)).text
            channels = (await client.get("/_studio/channels", headers=RIGHT)).text

    assert '<span class="failed">1</span>' in jobs
    assert re.search(r'data-head="Name">\w+live\w*\.send</td>', jobs)
    assert "<h2>Schedules</h2>" in jobs
    assert f'<td data-head="Members">{member.id}</td>' in channels
    assert CANARY not in jobs + channels


async def test_it_says_who_may_see_a_url_and_why(root: Path) -> None:
    async with open_app(root, **settings(root)) as client:
        members = (await client.get("/_studio/routes?url=/members", headers=RIGHT)).text
        index = (await client.get("/_studio/routes?url=/", headers=RIGHT)).text
        missing = (await client.get("/_studio/routes?url=/no<b>", headers=RIGHT)).text

    assert "A visitor who is not signed in may not see it." in members
    assert "redirects to /login" in members
    assert "Everybody may see it." in index
    assert "no page or endpoint has this path" in missing
    assert "<b>" not in missing


async def test_a_setting_names_its_source(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FX_TIMEOUTS__ACTION", "9")
    async with open_app(root, **settings(root)) as client:
        text = (await client.get("/_studio/settings", headers=RIGHT)).text

    def source(key: str) -> str:
        row = next(row for row in text.split("<tr>") if f">{key}</td>" in row)
        return row.rpartition("</td>")[0].rpartition(">")[2]

    assert source("timeouts.loader") == "fx.config.json"
    assert source("timeouts.action") == "FX_TIMEOUTS__ACTION"
    assert source("timeouts.shell") == "default"
    assert source("database.url") == "code"


async def test_developers_read_the_database_and_change_nothing(root: Path) -> None:
    async with open_app(root, **settings(root)) as client:
        await client.get("/?token=one", headers={"cookie": "session=2"})

        async def database_page(**query: str) -> str:
            with open_observer() as loop:
                context = PageContext(client.app, Timings(), loop, True, {"headers": []}, query)
                return await render_page("database", context, "/__fx") or ""

        first = await database_page(sql="select text from secrets")
        rejected = await database_page(sql="delete from secrets")
        hidden = await database_page(sql="with x as (select 1) delete from secrets")
        broken = await database_page(sql="select x from nowhere")
        after = await database_page(sql="select count(*) as count from secrets")

    assert '<td data-head="text">one</td>' in first
    assert "Only queries that read are run" in rejected
    assert "no such table: nowhere" in broken
    assert '<td data-head="count">1</td>' in after
    assert "Traceback" not in hidden


async def test_browsers_learn_of_new_requests_and_of_the_end() -> None:
    timings = Timings()
    sent: list[bytes] = []
    left = trio.Event()
    steps = iter([1, 0, 2])

    async def receive() -> dict[str, str]:
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))

    async def pause() -> bool:
        await trio.lowlevel.checkpoint()
        step = next(steps, None)
        timings.ended += step or 0
        return step is not None

    await Watchers(timings).send_events(receive, send, pause)

    assert sent == [b"", b"retry: 2000\n\n", b"data: 1\n\n", b"data: 3\n\n", b""]


async def test_without_a_guard_the_app_does_not_start(root: Path) -> None:
    unguarded = settings(root)
    unguarded["plugins"][0]["settings"]["guard"] = "json:dumps"
    with pytest.raises(PluginFailed, match="which is not async"):
        async with open_app(root, **unguarded):
            pass
