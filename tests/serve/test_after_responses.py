"""What an action has promised is done, and what a client gets wrong is not our mistake."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
from starlette.background import BackgroundTask
from starlette.types import Message
from trio.testing import MockClock, wait_all_tasks_blocked

from fx.testing import Client, SocketClosed, open_app
from fxtrio.serve.request.response.background import open_background
from tests.trees import page, write_tree

PAGE = """
    done = []

    async def job(text):
        done.append(text)

    @action
    async def unsendable(request):
        return {"x": object(), "background": [job, "unsendable"]}

    @action
    async def sent(request):
        return {"background": [job, "sent"]}

    def promise(request):
        request.state.background.add_task(job, request.url.path.rpartition("/")[2])

    @action
    async def crashed(request):
        promise(request)
        raise ValueError("a bug")

    @action
    async def refused(request):
        promise(request)
        raise ActionError("no", 409)

    @action
    async def late(request):
        import trio
        promise(request)
        await trio.sleep_forever()

    @action
    async def mistaken(request):
        promise(request)
        return ["no", "dict"]

    @action
    async def left(request):
        from fx.runtime import redirect
        promise(request)
        raise redirect("/kinds")

    @action
    async def told(request):
        return {"done": list(done)}

    async def websocket(ws):
        await ws.accept()
        while True:
            await ws.send_json({"got": await ws.receive_json()})
    """
ACTIONS = "/api/__actions/index/"


HALVES = """
    import json

    from fx.realtime import channel

    async def websocket(ws):
        await ws.accept()
        async with channel(ws, "halves") as room:
            value = json.loads(await ws.receive_text())
            await ws.send_text(value)
            await ws.send_json({"a": value})
            await room.publish(value)
            await room.publish({"a": value})
            await ws.receive_text()
            await ws.close(4000, value)
    """
KINDS = """
    async def websocket(ws):
        await ws.accept()
        match ws.query_params["by"]:
            case "json":
                while True:
                    await ws.send_json(await ws.receive_json())
            case "text":
                while True:
                    await ws.send_text(await ws.receive_text())
            case "each-text":
                async for text in ws.iter_text():
                    await ws.send_text(text)
            case "bytes":
                while True:
                    await ws.send_bytes(await ws.receive_bytes())
            case "each-bytes":
                async for data in ws.iter_bytes():
                    await ws.send_bytes(data)
    """


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": page(PAGE),
            "pages/kinds.fxl": page(KINDS),
            "pages/halves.fxl": page(HALVES),
        },
    )
    async with open_app(tmp_path) as opened:
        yield opened


async def done(client: Client) -> list[str]:
    await wait_all_tasks_blocked()
    values: list[str] = (await client.action("/", "told")).data["done"]
    return values


async def test_background_work_is_done_when_the_result_cannot_be_sent(client: Client) -> None:
    assert (await client.action("/", "unsendable")).status == 500
    assert await done(client) == ["unsendable"]


@pytest.mark.parametrize(
    ("name", "status", "accept"),
    [
        ("crashed", 500, "application/json"),
        ("crashed", 500, "text/html"),
        ("refused", 409, "application/json"),
        ("refused", 409, "text/html"),
        ("mistaken", 500, "application/json"),
        ("late", 504, "application/json"),
    ],
)
async def test_what_an_action_that_failed_had_promised_is_done(
    client: Client, autojump_clock: MockClock, name: str, status: int, accept: str
) -> None:
    headers = {"accept": accept}
    response = await client.post(f"{ACTIONS}{name}", data={"a": "1"}, headers=headers)
    assert response.status == status
    assert await done(client) == [name]


async def test_an_action_that_leads_elsewhere_has_not_failed(client: Client) -> None:
    response = await client.post(f"{ACTIONS}left", json={})
    assert response.json() == {"ok": True, "redirect": "/kinds"}
    assert await done(client) == ["left"]


@pytest.mark.parametrize("referer", ["http://[", "http://a:b:c/", "\u00ff", "http://[::1/?x"])
async def test_background_work_is_done_and_the_answer_sent_whatever_the_referer(
    client: Client, referer: str
) -> None:
    headers = {"accept": "text/html", "referer": referer}
    headers["content-type"] = "application/x-www-form-urlencoded"
    response = await client.post(f"{ACTIONS}sent", content=b"a=1", headers=headers)
    assert (response.status, response.headers["location"]) == (303, "/")
    assert await done(client) == ["sent"]


async def test_background_work_is_done_when_the_client_has_disconnected(client: Client) -> None:
    scope = client.scope("http", f"{ACTIONS}sent", {"sec-fetch-site": "same-origin"})
    scope["method"] = "POST"

    async def receive() -> Message:
        return {"type": "http.request", "body": b"{}"}

    async def send(message: Message) -> None:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        await client.app(scope, receive, send)
    assert await done(client) == ["sent"]


async def test_work_above_the_capacity_is_done_when_its_caller_is_cancelled() -> None:
    ended: list[int] = []
    go = trio.Event()

    async def work(number: int) -> None:
        await go.wait()
        ended.append(number)

    async with open_background(capacity=1) as background:
        await background.run([BackgroundTask(work, 1)])
        await wait_all_tasks_blocked()
        with trio.CancelScope() as scope:
            scope.cancel()
            await background.run([BackgroundTask(work, 2)])
        assert scope.cancelled_caught
        go.set()
        await background.drain(1)
        assert sorted(ended) == [1, 2]


@pytest.mark.parametrize("text", ["{", '"\\ud800"', "[" * 5000, "NaN", ""])
async def test_a_message_that_is_no_json_closes_with_1007_and_is_no_defect(
    client: Client, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with client.websocket("/") as socket:
        await socket.send_json({"a": 1})
        assert await socket.receive_json() == {"got": {"a": 1}}
        await socket.send_text(text)
        with pytest.raises(SocketClosed) as caught:
            await socket.receive()
    assert caught.value.code == 1007
    assert not caplog.records


async def test_half_a_surrogate_pair_in_a_message_is_sent_as_a_replacement_character(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    async with client.websocket("/halves") as socket:
        await socket.send_text('"a\\ud800"')
        got = sorted([str(await socket.receive()) for _ in range(4)])
        await socket.send_text("enough")
        with pytest.raises(SocketClosed) as caught:
            await socket.receive()
    assert [text.replace(" ", "") for text in got] == ["a\ufffd"] * 2 + ['{"a":"a\ufffd"}'] * 2
    assert (caught.value.code, caught.value.reason) == (4000, "a\ufffd")
    assert all("U+FFFD" in record.message for record in caplog.records)


@pytest.mark.parametrize("by", ["json", "text", "each-text", "bytes", "each-bytes"])
async def test_a_message_of_the_other_kind_closes_with_1003_and_is_no_defect(
    client: Client, by: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with client.websocket(f"/kinds?by={by}") as socket:
        if by.endswith("bytes"):
            await socket.send_bytes(b"1")
            assert await socket.receive() == b"1"
            await socket.send_text("1")
        else:
            await socket.send_text("1")
            assert await socket.receive() == "1"
            await socket.send_bytes(b"1")
        with pytest.raises(SocketClosed) as caught:
            await socket.receive()
    assert caught.value.code == 1003
    assert not caplog.records
