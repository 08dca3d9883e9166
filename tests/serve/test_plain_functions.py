"""Plain functions of the application run in threads, and so hold nobody else up."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any

import pytest
import trio

from fx.testing import Client, open_app
from fxtrio.callables import awaitable
from fxtrio.limiters import MOST, limiter_of
from tests.trees import page, write_tree

ENDPOINT = """
    import threading
    from fx.runtime import ActionError, redirect
    from fx.tasks import enqueue
    from fxtrio.app_handle import get_app

    def get(request):
        threads = request.app.state.threads
        threads.append(threading.current_thread())
        if "wait" in request.query_params:
            request.app.state.begun.set()
            request.app.state.go.wait(10)
            if "fail" in request.query_params:
                raise ValueError("too late")
        if "error" in request.query_params:
            raise ActionError("no", 409)
        enqueue(threads.append, "job")
        return {"app": get_app() is not None, "id": request.state.request_id}

    async def post(request):
        request.app.state.threads.append(threading.current_thread())
        return {}
    """
CLASS = """
    import threading
    from starlette.endpoints import HTTPEndpoint
    from starlette.responses import PlainTextResponse

    class View(HTTPEndpoint):
        def get(self, request):
            request.app.state.threads.append(threading.current_thread())
            return PlainTextResponse("plain")

        async def post(self, request):
            request.app.state.threads.append(threading.current_thread())
            return PlainTextResponse("async")
    """
HOOKS = """
    import threading

    def note(ctx):
        ctx.request.app.state.threads.append(threading.current_thread())

    def llms_txt(ctx):
        note(ctx)
        return ctx.render_default()

    def wrap_markdown(ctx, markdown):
        note(ctx)
        return markdown + "!"

    def to_markdown(ctx):
        note(ctx)
        return "# From the folder"
    """
PAGE = """
    import threading

    @server
    async def load(request):
        return {"n": 1}

    def to_markdown(ctx):
        ctx.request.app.state.threads.append(threading.current_thread())
        return as_text(ctx)

    async def as_text(ctx):
        return f"# {(await ctx.run_loader())['n']}"
    """


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    write_tree(
        tmp_path,
        {
            "pages/api/plain.py": ENDPOINT,
            "pages/api/view.py": CLASS,
            "pages/llms.py": HOOKS,
            "pages/index.fxl": page(PAGE),
            "pages/other.fxl": page(""),
        },
    )
    timeouts = {"request": 0.5}
    async with open_app(tmp_path, llms={"enabled": True}, timeouts=timeouts) as opened:
        opened.app.state.threads = []
        opened.app.state.go = threading.Event()
        opened.app.state.begun = threading.Event()
        yield opened


@pytest.mark.parametrize(
    ("url", "text", "calls"),
    [
        ("/api/view", "plain", 1),
        ("/index.md", "# 1!", 2),
        ("/other.md", "# From the folder!", 2),
        ("/llms.txt", "## Pages", 1),
    ],
)
async def test_plain_functions_run_outside_of_the_event_loop(
    client: Client, url: str, text: str, calls: int
) -> None:
    answer = await client.get(url)
    assert text in answer.text
    threads = client.app.state.threads
    assert len(threads) == calls
    assert threading.current_thread() not in threads


async def test_async_functions_run_in_the_event_loop(client: Client) -> None:
    await client.post("/api/plain", json={})
    assert (await client.post("/api/view", json={})).text == "async"
    assert client.app.state.threads == [threading.current_thread()] * 2


async def test_a_thread_belongs_to_the_request(client: Client) -> None:
    answer = await client.get("/api/plain")
    assert answer.json() == {"app": True, "id": answer.headers["x-request-id"]}
    assert (await client.get("/api/plain?error")).status == 409
    with trio.fail_after(5):
        while "job" not in client.app.state.threads:
            await trio.testing.wait_all_tasks_blocked(0.001)


async def test_others_are_answered_while_a_plain_function_waits(client: Client) -> None:
    state = client.app.state
    async with trio.open_nursery() as nursery:
        nursery.start_soon(client.get, "/api/plain?wait")
        with trio.fail_after(10):
            await trio.to_thread.run_sync(state.begun.wait, 10)
            assert (await client.post("/api/plain", json={})).status == 200
        state.go.set()


async def test_a_deadline_is_reported_in_time_and_an_error_after_it_is_logged(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with trio.fail_after(10):
        answer = await client.get("/api/plain?wait&fail")
        assert answer.status == 504
        client.app.state.go.set()
        while "too late" not in caplog.text:
            await trio.testing.wait_all_tasks_blocked(0.001)
    assert "get failed after its timeout" in caplog.text


async def test_no_more_threads_run_than_there_may_be() -> None:
    running = most = 0
    lock = threading.Lock()

    def work() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        with lock:
            running -= 1

    async with trio.open_nursery() as nursery:
        for _ in range(MOST["calls"] * 3):
            nursery.start_soon(awaitable(work))
    assert 0 < most <= MOST["calls"]
    assert limiter_of("calls").total_tokens == MOST["calls"]
    assert limiter_of("calls").borrowed_tokens == 0


class Asynchronous:
    async def __call__(self) -> threading.Thread:
        return threading.current_thread()

    async def method(self) -> threading.Thread:
        return threading.current_thread()


async def where() -> threading.Thread:
    return threading.current_thread()


@wraps(where)
def wrapped() -> Any:
    assert threading.current_thread() is threading.main_thread()
    return where()


@pytest.mark.parametrize(
    "function", [where, wrapped, partial(where), Asynchronous(), Asynchronous().method]
)
async def test_functions_that_are_async_in_any_way_stay_in_the_event_loop(
    function: Callable[[], Any],
) -> None:
    assert await awaitable(function)() is threading.current_thread()
