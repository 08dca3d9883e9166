"""Actions that are async generators: what is sent, when, and what ends them."""

from __future__ import annotations

import gc
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from fx.testing import Client, open_app
from fxtrio.testing.events import StreamCut
from fxtrio.testing.responses import AnswerUnreadable, StreamedResponse
from tests.trees import page, write_tree

ASK = """
    import attrs
    import trio
    from fx.runtime import redirect

    LOG = []

    @attrs.frozen
    class Question:
        text: str = "a"
        count: int = 3
        every: float = 0.1

    @server
    async def load(request):
        return {"log": LOG}

    @action
    async def ask(request, question: Question):
        request.state.response.set_cookie("asked", "yes")
        if question.text == "no":
            raise ActionError("Ask something else.", 422, {"left": 2})
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.sleep, 0)
                for number in range(question.count):
                    await trio.sleep(question.every)
                    yield {"text": f"{question.text}{number}"}
        finally:
            LOG.append("ended")

    @action(cancel_on_disconnect=False)
    async def count(request):
        for number in range(100):
            await trio.sleep(1)
            yield number
        LOG.append("counted")

    @action
    async def burst(request):
        for number in range(3):
            yield number

    @action
    async def nothing(request):
        if False:
            yield

    @action
    async def breaks(request):
        yield 1
        raise ActionError("The model broke.", 503, {"model": "m"})

    @action
    async def crashes(request):
        yield 1
        1 / 0

    @action
    async def leaves(request):
        yield 1
        raise invalidate_routes(redirect("/thanks"), "/")

    @action
    async def evicts(request):
        yield invalidate_routes({"n": 1}, "/list")
        yield invalidate_routes({"n": 2}, "/", "/list")

    @action
    async def unserializable(request):
        try:
            yield object()
        except Exception as error:
            LOG.append(type(error).__name__)
            raise

    @action
    async def late_cookie(request):
        yield 1
        await trio.sleep(1)
        request.state.response.set_cookie("late", "yes")

    async def follow(word):
        LOG.append(word)

    @action
    async def works(request):
        request.state.background.add_task(follow, "added")
        yield {"background": [follow, "given"], "n": 1}

    @action(timeout=2)
    async def stalls(request):
        try:
            for pause in (1.5, 1.5, 5):
                await trio.sleep(pause)
                yield pause
        finally:
            LOG.append("stopped")

    @action
    async def within(request):
        with trio.move_on_after(3):
            while True:
                yield "tick"
                await trio.sleep(1)
        yield "out"

    @action
    async def skips(request):
        for _ in range(50):
            with trio.move_on_after(1):
                yield "x" * 100_000
        yield "out"

    @action
    async def keeps(request, *, question: Question):
        yield question.text
    """


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with open_app(write_tree(tmp_path, {"pages/index.fxl": page(ASK)})) as opened:
        yield opened


def events(body: str) -> list[tuple[str, Any]]:
    """Return the events of a whole stream: their type ("" for a value) and data."""
    found = []
    for event in body.split("\n\n"):
        if event.startswith(("data: ", "event: end\n")):
            kind, _, data = event.rpartition("data: ")
            found.append((kind.removeprefix("event: ").strip(), json.loads(data)))
    return found


async def call(client: Client, name: str, body: object = None) -> list[tuple[str, Any]]:
    response = await client.post(f"/api/__actions/index/{name}", json=body or {})
    assert response.status == 200, response.text
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    return events(response.text)


async def log_of(client: Client) -> list[str]:
    log: list[str] = (await client.load_page("/")).data["log"]
    return log


async def test_values_are_sent_as_they_are_yielded(
    client: Client, autojump_clock: MockClock
) -> None:
    arrived = []
    async with stream(client, "ask", {"every": 1}) as response:
        began = trio.current_time()
        async for chunk in response:
            arrived.append((trio.current_time() - began, chunk))
    assert [(round(when), chunk) for when, chunk in arrived] == [
        (0, b'data: {"text":"a0"}\n\n'),
        (1, b'data: {"text":"a1"}\n\n'),
        (2, b'data: {"text":"a2"}\n\n'),
        (2, b'event: end\ndata: {"ok":true}\n\n'),
    ]


def stream(client: Client, name: str, body: object = None) -> Any:
    return client.stream("POST", f"/api/__actions/index/{name}", json=body or {})


async def test_proxies_do_not_buffer_it_and_caches_do_not_store_it(
    client: Client, autojump_clock: MockClock
) -> None:
    async with stream(client, "ask") as response:
        assert response.headers["x-accel-buffering"] == "no"
        assert response.headers["cache-control"] == "no-store"
        assert "asked=yes" in response.headers["set-cookie"]


async def test_values_that_are_yielded_without_waiting_are_one_write(
    client: Client, autojump_clock: MockClock
) -> None:
    async with stream(client, "burst") as response:
        chunks = [chunk async for chunk in response]
    assert chunks[0] == b"data: 0\n\ndata: 1\n\ndata: 2\n\n"


async def test_an_error_before_the_first_value_is_an_ordinary_response(
    client: Client, autojump_clock: MockClock
) -> None:
    rejected = await client.action("/", "ask", {"text": "no"})
    assert (rejected.status, rejected.error) == (422, "Ask something else.")
    invalid = await client.action("/", "ask", {"count": "many"})
    assert (invalid.status, list(invalid.fields)) == (422, ["count"])


async def test_a_generator_without_values_ends_a_stream_at_once(
    client: Client, autojump_clock: MockClock
) -> None:
    assert await call(client, "nothing") == [("end", {"ok": True})]


async def test_an_error_after_the_first_value_is_in_the_last_event(
    client: Client, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    assert await call(client, "breaks") == [
        ("", 1),
        ("end", {"ok": False, "error": "The model broke.", "data": {"model": "m"}}),
    ]
    assert await call(client, "crashes") == [
        ("", 1),
        ("end", {"ok": False, "error": "ZeroDivisionError: division by zero"}),
    ]
    assert "ZeroDivisionError" in caplog.text


async def test_the_end_says_where_to_go_and_what_to_load_again(
    client: Client, autojump_clock: MockClock
) -> None:
    assert (await call(client, "leaves"))[-1] == (
        "end",
        {"ok": True, "redirect": "/thanks", "invalidate": ["/"]},
    )
    assert await call(client, "evicts") == [
        ("", {"n": 1}),
        ("", {"n": 2}),
        ("end", {"ok": True, "invalidate": ["/list", "/"]}),
    ]


async def test_a_value_that_json_cannot_hold_is_raised_at_its_yield(
    client: Client, autojump_clock: MockClock
) -> None:
    rejected = await client.action("/", "unserializable")
    assert rejected.status == 500
    assert await log_of(client) == ["NotSerializable"]


async def test_cookies_after_the_first_value_are_logged(
    client: Client, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    await call(client, "late_cookie")
    assert "pages/index.fxl: late_cookie(): set set-cookie after its first value" in caplog.text


async def test_background_tasks_run_after_the_stream(
    client: Client, autojump_clock: MockClock
) -> None:
    assert (await call(client, "works"))[0] == ("", {"n": 1})
    await wait_all_tasks_blocked()
    assert await log_of(client) == ["added", "given"]


async def test_comments_keep_a_silent_stream_open(
    client: Client, autojump_clock: MockClock
) -> None:
    async with stream(client, "ask", {"every": 25, "count": 2}) as response:
        chunks = [chunk async for chunk in response]
    assert chunks.count(b":\n\n") == 1  # none before the first value: the status is not settled


async def test_the_timeout_is_for_one_value(client: Client, autojump_clock: MockClock) -> None:
    assert await call(client, "stalls") == [
        ("", 1.5),
        ("", 1.5),
        ("end", {"ok": False, "error": "The action took too long."}),
    ]
    assert await log_of(client) == ["stopped"]
    rejected = await client.action("/", "ask", {"every": 31})
    assert (rejected.status, rejected.error) == (504, "The action took too long.")


async def test_a_scope_around_a_yield_that_times_out_cancels_nothing_else(
    client: Client, autojump_clock: MockClock
) -> None:
    assert await call(client, "within") == [
        *[("", "tick")] * 3,
        ("", "out"),
        ("end", {"ok": True}),
    ]


async def test_a_body_may_be_a_keyword(client: Client, autojump_clock: MockClock) -> None:
    assert (await call(client, "keeps", {"text": "b"}))[0] == ("", "b")


async def test_a_client_that_disconnects_ends_the_generator(
    client: Client, autojump_clock: MockClock
) -> None:
    async with stream(client, "ask", {"every": 0.5, "count": 1_000_000}) as response:
        await first(response)
        began = trio.current_time()
    assert trio.current_time() - began < 1
    assert await log_of(client) == ["ended"]


async def first(response: StreamedResponse) -> bytes:
    async for chunk in response:
        return chunk
    raise AssertionError("nothing was sent")


async def test_an_action_may_outlive_its_client(client: Client, autojump_clock: MockClock) -> None:
    async with stream(client, "count") as response:
        await first(response)
    assert await log_of(client) == ["counted"]


async def test_a_generator_waits_for_its_reader(client: Client, autojump_clock: MockClock) -> None:
    big = {"text": "x" * 20_000, "every": 0.001, "count": 100_000}
    async with stream(client, "ask", big) as response:
        await first(response)
        await wait_all_tasks_blocked(0.01)
        numbers = [await first(response) for _ in range(3)]
    assert [chunk.count(b"data:") for chunk in numbers] == [1, 1, 1]
    assert await log_of(client) == ["ended"]


async def test_a_value_whose_yield_times_out_is_not_sent(
    client: Client, autojump_clock: MockClock
) -> None:
    async with stream(client, "skips") as response:
        await trio.sleep(100)  # longer than the generator takes
        sizes = [chunk.count(b"data:") for chunk in [chunk async for chunk in response]]
    assert sizes == [1, 1, 1]
    with trio.fail_after(1):  # a client that reads misses nothing
        assert len(await call(client, "skips")) == 52


async def test_a_form_without_javascript_gets_its_page_after_the_last_value(
    client: Client, autojump_clock: MockClock
) -> None:
    response = await client.request(
        "POST",
        "/api/__actions/index/burst",
        data={"a": "b"},
        headers={"accept": "text/html", "sec-fetch-site": "same-origin"},
    )
    assert (response.status, response.headers["location"]) == (303, "/")


async def test_a_stream_of_an_hour_takes_no_time(tmp_path: Path, autojump_clock: MockClock) -> None:
    root = write_tree(tmp_path, {"pages/index.fxl": page(ASK)})
    async with open_app(root, timeouts__action=7200) as client:
        assert len(await call(client, "ask", {"every": 600, "count": 6})) == 7


async def test_a_test_may_leave_the_loop_over_values(client: Client) -> None:
    async with client.stream_action("/", "ask", {"count": 100, "every": 1}) as values:
        async for _ in values:
            break
        again = [await anext(values.__aiter__())]
    gc.collect()  # a generator that was left behind would warn

    assert again


async def test_the_test_client_reads_values_and_their_end(
    client: Client, autojump_clock: MockClock
) -> None:
    result = await client.action("/", "breaks")
    assert (result.status, result.ok, result.values) == (200, False, [1])
    assert (result.error, result.data) == ("The model broke.", {"data": {"model": "m"}})
    async with client.stream_action("/", "ask", {"count": 2}) as values:
        found = [value["text"] async for value in values]
    assert (found, values.end) == (["a0", "a1"], {"ok": True})
    with pytest.raises(AnswerUnreadable, match="status 422"):
        async with client.stream_action("/", "ask", {"text": "no"}):
            pass


async def test_one_stream_too_many_is_rejected_until_another_ends(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    root = write_tree(tmp_path, {"pages/index.fxl": page(ASK)})
    async with open_app(root, limits__streams=1) as client:
        async with client.stream_action("/", "ask", {"count": 100, "every": 1}):
            rejected = await client.action("/", "burst")
        assert (rejected.status, rejected.headers["retry-after"]) == (503, "5")
        assert (await client.action("/", "burst")).values == [0, 1, 2]


async def test_a_shutdown_waits_no_longer_for_a_client_that_does_not_read(
    client: Client, autojump_clock: MockClock
) -> None:
    async with client.stream_action("/", "ask", {"count": 100, "every": 0}) as values:
        client.app.begin_shutdown()
        await trio.sleep(10.5)
        with pytest.raises(StreamCut):
            assert len([value async for value in values]) < 100


async def test_a_shutdown_ends_streams_with_an_error_after_a_grace(
    client: Client, autojump_clock: MockClock
) -> None:
    async with client.stream_action("/", "ask", {"count": 100, "every": 4}) as values:
        found: list[str] = []
        async for value in values:
            if not found:
                client.app.begin_shutdown()
                began = trio.current_time()
            found.append(value["text"])
    assert trio.current_time() - began == pytest.approx(10, abs=0.1)
    assert found == ["a0", "a1", "a2"]
    error = "The server is restarting. Try again in a moment."
    assert values.end == {"ok": False, "error": error}
    rejected = await client.action("/", "ask", {"every": 4})
    assert (rejected.status, rejected.error) == (503, error)
