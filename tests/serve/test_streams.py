"""`@stream`: who may read one, what is sent, and how a client continues it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from fx.realtime import Event, Missed
from fx.testing import Client, open_app
from fxtrio.testing.responses import AnswerUnreadable
from tests.trees import page, write_tree

PAGE = """
    import attrs
    import trio
    from fx.realtime import Event, Missed, subscribe
    from fx.runtime import ActionError, redirect
    from fxtrio.errors import BrokerUnreachable

    LOG = []

    @server
    async def load(request):
        return {"log": LOG}

    @attrs.frozen
    class Query:
        room: str
        count: int = 2

    @stream
    async def ticks(request):
        number = 0
        try:
            while True:
                await trio.sleep(1)
                number += 1
                yield number
        finally:
            LOG.append("ended")

    @stream
    async def rooms(request, query: Query, after: str | None = None):
        for number in range(query.count):
            yield {"room": query.room, "after": after, "id": request.path_params.get("id")}

    @stream
    async def feed(request, after: str | None):
        async with subscribe("news", after=after) as events:
            async for event in events:
                yield event

    @stream
    async def forms(request):
        yield Event({"n": 1}, id="1-0")
        yield Missed(3)
        yield Missed()
        yield Event("text", id=None)

    @stream
    async def early(request):
        raise ActionError("Not you.", 403)
        yield

    @stream
    async def late(request):
        yield 1
        raise ActionError("No more.", 403)

    @stream
    async def crashes(request):
        yield 1
        1 / 0

    @stream
    async def away(request):
        raise BrokerUnreachable("feed", "answer")
        yield

    @stream
    async def leads(request):
        yield 1
        raise redirect("/login")

    @stream
    async def wrong_id(request):
        try:
            yield Event(1, id="a\\nb")
        except ValueError as error:
            yield str(error)

    @stream
    async def stubborn(request):
        while True:
            try:
                yield 1
                await trio.sleep(1)
            except trio.Cancelled:
                LOG.append("again")
    """


@pytest.fixture
def app(tmp_path: Path) -> Path:
    return write_tree(tmp_path, {"pages/index.fxl": page(PAGE), "pages/items/[id].fxl": page(PAGE)})


@pytest.fixture
async def client(app: Path) -> AsyncIterator[Client]:
    async with open_app(app) as client:
        yield client


async def log_of(client: Client) -> list[str]:
    found: list[str] = (await client.load_page("/")).data["log"]
    return found


async def test_values_are_sent_until_the_generator_returns(client: Client) -> None:
    async with client.read_stream("/items/7", "rooms", {"room": "a", "count": 2}) as events:
        found = [event async for event in events]
    assert found == [Event({"room": "a", "after": None, "id": "7"}, None)] * 2
    assert events.end == {"ok": True}


async def test_the_wire_format(client: Client) -> None:
    response = await client.get("/api/__streams/index/forms")
    assert response.text == (
        "retry: 3000\n\n"
        'id: 1-0\ndata: {"n":1}\n\n'
        'event: missed\ndata: {"count":3}\n\n'
        'event: missed\ndata: {"count":null}\n\n'
        'data: "text"\n\n'
        'event: end\ndata: {"ok":true}\n\n'
    )
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-accel-buffering"] == "no"


async def test_the_query_is_validated(client: Client) -> None:
    response = await client.get("/api/__streams/index/rooms?count=many")
    assert response.status == 422
    assert set(response.json()["fields"]) == {"room", "count"}


@pytest.mark.parametrize(
    ("url", "header", "expected"),
    [
        ("?room=a", "7-1", "7-1"),
        ("?room=a&after=5-1", None, "5-1"),
        ("?room=a&after=5-1", "7-1", "7-1"),
        ("?room=a&after=", None, None),
        ("?room=a&after=1&after=2", None, None),
        ("?room=a", "x" * 2000, None),
    ],
)
async def test_the_last_id_is_in_the_header_or_the_query(
    client: Client, url: str, header: str | None, expected: str | None
) -> None:
    headers = {} if header is None else {"last-event-id": header}
    response = await client.get(f"/api/__streams/index/rooms{url}", headers=headers)
    after = "null" if expected is None else f'"{expected}"'
    assert f'"after":{after}' in response.text


async def test_a_feed_continues_behind_the_last_id(
    client: Client, autojump_clock: MockClock
) -> None:
    async def say(*words: str) -> None:
        await wait_all_tasks_blocked()
        for word in words:
            await client.app.state.fx_broker.publish("news", {"word": word})

    async with client.read_stream("/", "feed") as events:
        await say("one", "two")
        first = await anext(events)
        await anext(events)
    assert isinstance(first, Event)
    await say("three")
    async with client.read_stream("/", "feed", after=first.id) as events:
        again = [await anext(events), await anext(events)]
    assert [event.data["word"] for event in again if isinstance(event, Event)] == ["two", "three"]


async def test_an_unknown_id_is_reported(client: Client, autojump_clock: MockClock) -> None:
    async with client.read_stream("/", "feed", after="nonsense") as events:
        assert await anext(events) == Missed()


async def test_a_quiet_stream_begins_without_a_value(
    client: Client, autojump_clock: MockClock
) -> None:
    async with client.stream("GET", "/api/__streams/index/ticks") as response:
        assert trio.current_time() < 1
        assert response.status == 200
        chunks = [await anext(aiter(response)) for _ in range(2)]
    assert chunks == [b"retry: 3000\n\n:\n\n", b"data: 1\n\n"]


async def test_an_error_before_the_first_event_has_its_status(client: Client) -> None:
    response = await client.get("/api/__streams/index/early")
    assert (response.status, response.json()) == (403, {"ok": False, "error": "Not you."})


async def test_an_error_for_the_client_ends_a_stream(client: Client) -> None:
    text = (await client.get("/api/__streams/index/late")).text
    assert text.endswith('event: end\ndata: {"ok":false,"error":"No more."}\n\n')


async def test_a_redirect_ends_a_stream(client: Client) -> None:
    text = (await client.get("/api/__streams/index/leads")).text
    assert text.endswith('event: end\ndata: {"ok":true,"redirect":"/login"}\n\n')


async def test_after_a_defect_clients_reconnect_later(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    text = (await client.get("/api/__streams/index/crashes")).text
    assert text.endswith("data: 1\n\nretry: 10000\n\n")
    assert "ZeroDivisionError" in caplog.text


async def test_without_its_broker_a_stream_lets_clients_reconnect(client: Client) -> None:
    response = await client.get("/api/__streams/index/away")
    assert (response.status, response.text) == (200, "retry: 3000\n\nretry: 3000\n\n")


async def test_an_id_is_one_line(client: Client) -> None:
    text = (await client.get("/api/__streams/index/wrong_id")).text
    assert "has a line end or a NUL character" in text


async def test_a_client_that_disconnects_ends_the_generator(
    client: Client, autojump_clock: MockClock
) -> None:
    async with client.read_stream("/", "ticks") as events:
        await anext(events)
    await trio.sleep(1)
    assert await log_of(client) == ["ended"]


async def test_a_generator_that_catches_its_cancellation_is_closed(
    client: Client, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with client.read_stream("/", "stubborn") as events:
        await anext(events)
    await trio.sleep(1)
    assert (await log_of(client)).count("again") <= 3
    assert "stubborn(): continued after it was cancelled" in caplog.text


async def test_at_a_shutdown_clients_are_sent_elsewhere_at_once(
    client: Client, autojump_clock: MockClock
) -> None:
    async with client.stream("GET", "/api/__streams/index/ticks") as response:
        chunks = aiter(response)
        await anext(chunks)
        client.app.begin_shutdown()
        last = [chunk async for chunk in chunks]
    assert trio.current_time() < 1
    pause = int(last[-1].removeprefix(b"retry: "))
    assert 500 <= pause <= 3000
    reconnected = await client.get("/api/__streams/index/ticks")
    assert reconnected.text.count("retry: ") == 2


async def test_new_code_ends_the_streams_of_its_file(
    client: Client, autojump_clock: MockClock
) -> None:
    async with (
        client.read_stream("/", "ticks") as events,
        client.read_stream("/items/7", "ticks") as others,
    ):
        client.app.replace_site(client.app.site, [], ["pages/index.fxl"])
        assert [event async for event in events] == []
        assert events.end is None
        assert await anext(others) == Event(1, None)


@pytest.mark.parametrize("settings", [{}, {"csrf": {"mode": "strict"}}])
async def test_pages_of_other_sites_cannot_read_a_stream(
    app: Path, settings: dict[str, Any]
) -> None:
    url = "/api/__streams/index/forms"
    async with open_app(app, **settings) as client:
        for headers in (
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
            {"sec-fetch-site": "", "origin": "https://evil.example"},
        ):
            assert (await client.get(url, headers=headers)).status == 403
        assert (await client.get(url, headers={"sec-fetch-site": ""})).status == 200


async def test_origins_of_the_settings_can_read_a_stream(app: Path) -> None:
    async with open_app(
        app, cors={"origins": ["https://good.example"], "credentials": True}
    ) as client:
        headers = {"sec-fetch-site": "cross-site", "origin": "https://good.example"}
        response = await client.get("/api/__streams/index/forms", headers=headers)
        assert response.status == 200
        assert response.headers["access-control-allow-origin"] == "https://good.example"


async def test_a_rate_limit_counts_reconnections(app: Path) -> None:
    async with open_app(app, rate_limits=[{"route": "/", "limit": "2/minute"}]) as client:
        found = [(await client.get("/api/__streams/index/forms")).status for _ in range(3)]
        assert found == [200, 200, 429]


async def test_one_stream_too_many_is_rejected(app: Path, autojump_clock: MockClock) -> None:
    async with open_app(app, limits={"streams": 1}) as client:
        async with client.read_stream("/", "ticks"):
            response = await client.get("/api/__streams/index/ticks")
            assert (response.status, response.headers["retry-after"]) == (503, "5")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/api/__streams/index/forms", 405),
        ("HEAD", "/api/__streams/index/forms", 405),
        ("GET", "/api/__streams/index/nothing", 404),
        ("GET", "/api/__streams/nowhere/forms", 404),
        ("GET", "/api/__streams/forms", 404),
        ("GET", "/api/__streams/", 404),
    ],
)
async def test_other_requests_are_rejected(
    client: Client, method: str, path: str, status: int
) -> None:
    assert (await client.request(method, path)).status == status


async def test_the_test_client_names_what_it_cannot_read(client: Client) -> None:
    with pytest.raises(AnswerUnreadable, match="403"):
        async with client.read_stream("/", "early"):
            pass
