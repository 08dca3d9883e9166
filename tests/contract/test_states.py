"""What happens to requests and jobs when clients leave, time is up, or the app ends."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest
import trio
from starlette.types import Message
from trio.testing import MockClock

from fx.testing import Client
from tests.contract.projects import open_pages
from tests.contract.rules import rule
from tests.contract.servers import Observed

SLOW = """
    import trio

    async def work(request):
        log = request.app.state.log
        try:
            await trio.sleep(5)
        except trio.Cancelled:
            log.append("cancelled")
            raise
        log.append("finished")
        return {}

    @server
    async def load(request):
        return await work(request)

    @action
    async def stubborn(request):
        return await work(request)

    @action(cancel_on_disconnect=True)
    async def willing(request):
        return await work(request)
"""


async def leave_after_a_second(client: Client, method: str, path: str) -> list[str]:
    """Return what the code behind a request did whose client left after a second."""
    log = client.app.state.log = list[str]()
    scope = {**client.scope("http", path, None), "method": method}
    left = trio.Event()
    body = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Message:
        for message in body:
            return message
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        log.append(message["type"])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(client.app, scope, receive, send)
        await trio.sleep(1)
        left.set()
    return log


@rule("states.request_1")
@pytest.mark.parametrize("path", ["/", "/shop"])
async def test_states_request_1_a_loader_is_cancelled_when_its_client_leaves(
    tmp_path: Path, autojump_clock: MockClock, path: str
) -> None:
    of_layout = SLOW.partition("    @action")[0]
    files = {"index": SLOW, "shop/layout": of_layout, "shop/index": ""}
    async with open_pages(tmp_path, files) as client:
        assert await leave_after_a_second(client, "GET", path) == ["cancelled"]
        assert trio.current_time() < 2


@rule("states.request_2")
async def test_states_request_2_an_action_runs_to_its_end_unless_it_is_marked(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with open_pages(tmp_path, SLOW) as client:
        actions = "/api/__actions/index"
        finished = await leave_after_a_second(client, "POST", f"{actions}/stubborn")
        assert (finished[0], trio.current_time()) == ("finished", 5)
        assert await leave_after_a_second(client, "POST", f"{actions}/willing") == ["cancelled"]
        assert trio.current_time() < 7


STREAMS = """
    import trio

    async def values(request):
        log = request.app.state.log
        try:
            for number in range(5):
                yield number
                await trio.sleep(1)
        except trio.Cancelled:
            log.append("cancelled")
            raise
        log.append("finished")

    @stream
    async def feed(request):
        async for value in values(request):
            yield value

    @action
    async def willing(request):
        async for value in values(request):
            yield value

    @action(cancel_on_disconnect=False)
    async def stubborn(request):
        async for value in values(request):
            yield value
"""


@rule("states.request_5")
async def test_states_request_5_an_async_generator_is_cancelled_unless_it_is_marked(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with open_pages(tmp_path, STREAMS) as client:
        actions = "/api/__actions/index"
        assert "cancelled" in await leave_after_a_second(client, "POST", f"{actions}/willing")
        assert trio.current_time() < 2
        assert "finished" in await leave_after_a_second(client, "POST", f"{actions}/stubborn")
        assert trio.current_time() >= 5


DEADLINES = """
    import trio

    @server{mark}
    async def load(request):
        await trio.sleep(60)
        return {{}}

    @action{mark}
    async def act(request):
        await trio.sleep(60)
        return {{}}
"""
deadlines = pytest.mark.parametrize(
    ("mark", "settings", "seconds"),
    [("", {}, None), ("", {"loader": 3, "action": 4}, None), ("(timeout=2)", {"loader": 9}, 2)],
)


async def _timed(waiting: Awaitable[Any]) -> tuple[Any, float]:
    begin = trio.current_time()
    return await waiting, trio.current_time() - begin


@rule("states.request_3")
@deadlines
async def test_states_request_3_a_loader_past_its_deadline_is_a_504(
    tmp_path: Path,
    autojump_clock: MockClock,
    mark: str,
    settings: dict[str, float],
    seconds: float | None,
) -> None:
    files = {"index": DEADLINES.format(mark=mark), "error": ""}
    async with open_pages(tmp_path, files, timeouts=settings) as client:
        page, taken = await _timed(client.get("/"))
        payload = (await client.load_page("/")).payload
        limit = seconds or client.app.site.config.timeouts.loader
    assert (page.status, taken) == (504, limit)
    assert (payload["statusCode"], payload["type"], payload["ok"]) == (504, "Timeout", False)
    assert payload["boundary"] == "pages/error.fxl"


@rule("states.request_4")
@deadlines
async def test_states_request_4_an_action_past_its_deadline_is_a_504(
    tmp_path: Path,
    autojump_clock: MockClock,
    mark: str,
    settings: dict[str, float],
    seconds: float | None,
) -> None:
    text = DEADLINES.format(mark=mark)
    async with open_pages(tmp_path, text, timeouts=settings) as client:
        response, taken = await _timed(client.post("/api/__actions/index/act", json={}))
        limit = seconds or client.app.site.config.timeouts.action
    assert (response.status, taken) == (504, limit)
    assert response.json().keys() == {"ok", "error"}
    assert response.json()["ok"] is False


@rule("states.app_1")
async def test_states_app_1_readyz_says_whether_the_app_takes_requests(tmp_path: Path) -> None:
    async with open_pages(tmp_path, "") as client:
        before = await client.get("/readyz")
        client.app.begin_shutdown()  # what the server calls when it is told to stop
        after = await client.get("/readyz")
        page = await client.get("/")
    assert (before.status, after.status, page.status) == (200, 503, 200)


@pytest.mark.node
@rule("states.app_2")
def test_states_app_2_requests_in_flight_finish(workers: Observed) -> None:
    assert workers.answer_in_flight == {"ok": True, "done": True}
    assert workers.exit_code == 0


@pytest.mark.node
@rule("states.app_3")
def test_states_app_3_open_websockets_are_closed_with_1001(workers: Observed) -> None:
    assert workers.close_code == 1001


@rule("states.app_4")
async def test_states_app_4_jobs_have_the_drain_timeout_and_no_more(
    tmp_path: Path, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    finished = []

    async def short_job() -> None:
        await trio.sleep(3)
        finished.append("short")

    async def long_job() -> None:
        await trio.sleep(3600)
        finished.append("long")

    async def waiting_job() -> None:
        finished.append("waiting")

    tasks = {"workers": 2, "drain_timeout": 4}
    async with open_pages(tmp_path, "", tasks=tasks) as client:
        for job in (short_job, long_job, long_job, waiting_job):
            client.app.state.fx_tasks.enqueue(job)
        begin = trio.current_time()
    assert trio.current_time() - begin == 4
    assert finished == ["short"]
    for name in ("long_job", "waiting_job"):
        assert name in caplog.text
    assert "short_job" not in caplog.text


@rule("states.app_5")
async def test_states_app_5_streams_of_events_have_the_drain_timeout_and_no_more(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with open_pages(tmp_path, STREAMS, tasks={"drain_timeout": 2.5}) as client:
        client.app.state.log = []
        async with client.stream_action("/", "willing") as values:
            client.app.begin_shutdown()
            found = [value async for value in values]
        assert found == [0, 1, 2]
        assert values.end is not None
        assert values.end["ok"] is False
        assert client.app.state.log == ["cancelled"]


@rule("states.app_6")
async def test_states_app_6_a_stream_ends_at_once_and_is_continued_elsewhere(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with open_pages(tmp_path, STREAMS) as client:
        client.app.state.log = []
        async with client.stream("GET", "/api/__streams/index/feed") as response:
            chunks = aiter(response)
            await anext(chunks)
            client.app.begin_shutdown()
            rest = b"".join([chunk async for chunk in chunks])
        assert rest.startswith(b"retry: ")
        assert b"event: end" not in rest
        assert trio.current_time() < 1
