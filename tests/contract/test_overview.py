"""What the API does, each part once, in one application."""

from __future__ import annotations

from pathlib import Path

import pytest
from trio.testing import wait_all_tasks_blocked

from fx.testing import TestResponse
from tests.contract.projects import open_pages
from tests.contract.rules import rule
from tests.contract.test_head import head_of
from tests.plugins.pages import write_project

Responses = dict[str, TestResponse]
TODO = """
    import trio
    from fx.tasks import enqueue
    from fx.realtime import channel

    entries = ["milk"]

    async def remember(entry):
        await trio.lowlevel.checkpoint()
        entries.append(entry)

    @server
    async def load(request):
        if "fail" in request.query_params:
            raise LoaderError("No list", 503)
        return {"entries": list(entries)}

    @action
    async def add(request):
        entries.append((await request.json())["entry"])
        return invalidate_routes({"count": len(entries)}, "/", "/lists?all=1")

    @action
    async def add_later(request):
        enqueue(remember, (await request.json())["entry"])
        return {"count": len(entries)}

    @action
    async def clear(request):
        raise ActionError("Not yours", 403)

    async def websocket(ws):
        await ws.accept()
        async with channel(ws, "list") as lists:
            await lists.publish({"entries": entries})

    def to_markdown(ctx):
        return "- " + "\\n- ".join(entries)
"""


@pytest.mark.node
@rule("overview.page_files")
def test_overview_page_files_hold_python_and_jsx(responses: Responses) -> None:
    html = responses["/?name=Ann%20%3Cb%3E"].text
    assert "<h1>Hello Ann &lt;b&gt;</h1>" in html
    assert "async def" not in html


@pytest.mark.node
@rule("overview.loader")
def test_overview_loader_data_is_rendered(responses: Responses) -> None:
    html = responses["/?name=Ann%20%3Cb%3E"].text
    assert html.index("<header>The tour</header>") < html.index("<p>The tour</p>")
    assert '"data":{"greeting":"Hello Ann \\u003cb\\u003e"}' in html


@rule("overview.actions")
async def test_overview_actions_are_called_over_http(tmp_path: Path) -> None:
    async with open_pages(tmp_path, TODO) as client:
        first = await client.post("/api/__actions/index/add", json={"entry": "tea"})
        second = await client.post("/api/__actions/index/add", json={"entry": "rice"})
        loaded = await client.load_page("/")
    assert (first.json(), second.json()) == ({"ok": True, "count": 2}, {"ok": True, "count": 3})
    assert loaded.data == {"entries": ["milk", "tea", "rice"]}


@rule("overview.errors")
async def test_overview_errors_are_structured_responses(tmp_path: Path) -> None:
    async with open_pages(tmp_path, TODO) as client:
        loaded = await client.load_page("/?fail")
        rejected = await client.post("/api/__actions/index/clear", json={})
    assert (loaded.status, loaded.error) == (503, "No list")
    assert (rejected.status, rejected.json()) == (403, {"ok": False, "error": "Not yours"})


@rule("overview.invalidate_routes")
async def test_overview_invalidate_routes_names_the_payloads_to_drop(tmp_path: Path) -> None:
    async with open_pages(tmp_path, TODO) as client:
        result = await client.action("/", "add", {"entry": "tea"})
    assert result.headers["x-fx-invalidate"] == "/, /lists?all=1"


@rule("overview.enqueue")
async def test_overview_enqueue_runs_work_that_nobody_waits_for(tmp_path: Path) -> None:
    async with open_pages(tmp_path, TODO) as client:
        result = await client.action("/", "add_later", {"entry": "tea"})
        await wait_all_tasks_blocked()
        loaded = await client.load_page("/")
    assert result.data == {"count": 1}
    assert loaded.data == {"entries": ["milk", "tea"]}


@rule("overview.websocket")
async def test_overview_websocket_is_part_of_a_page(tmp_path: Path) -> None:
    async with open_pages(tmp_path, TODO) as client:
        async with client.websocket("/") as socket:
            assert await socket.receive_json() == {"entries": ["milk"]}
        assert (await client.get("/")).status == 200


@rule("overview.markdown")
async def test_overview_markdown_is_served_when_llms_is_enabled(tmp_path: Path) -> None:
    async with open_pages(tmp_path, TODO, llms=True) as client:
        enabled = await client.get("/index.md")
    async with open_pages(tmp_path, TODO) as client:
        disabled = await client.get("/index.md")
    assert (enabled.status, enabled.text) == (200, "- milk")
    assert enabled.headers["content-type"] == "text/markdown; charset=utf-8"
    assert disabled.status == 404


@pytest.mark.node
@rule("overview.head")
def test_overview_head_elements_come_from_both_sources(responses: Responses) -> None:
    assert head_of(responses["/head/element"]).titles == ["Head of a component"]
    assert head_of(responses["/head/list"]).titles == ["A list"]


async def test_the_example_of_the_reference_works(tmp_path: Path) -> None:
    write_project("reference/runtime-api.md", tmp_path)
    async with open_pages(tmp_path, {}) as client:
        loaded = await client.load_page("/shout?word=oh")
        louder = await client.action("/shout", "louder", {"word": "oh"})
        rejected = await client.action("/shout", "louder", {"word": "OH"})
    assert (loaded.data, louder.data) == ({"word": "oh"}, {"word": "OH"})
    assert (rejected.status, rejected.error) == (409, "That is as loud as it gets.")
    assert loaded.head == [[["title", {}, "Shout"]]]
