"""How a cached response is rendered: once for all, whoever disconnects; and what invalidates it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
import trio
from starlette.types import ASGIApp, Receive, Scope, Send
from trio.testing import MockClock, wait_all_tasks_blocked

from fx.cache import revalidate
from fx.testing import Client, TestResponse, open_app
from fxtrio.errors import AppNotRunning
from fxtrio.serve.cache.response_cache import MOST_REFRESHES, RETRY
from fxtrio.ssr.frames import Rendered
from tests.trees import page, write_tree

SLOW = """
    import trio

    CACHE = {"revalidate": 60}
    begun = []
    ended = []
    plan = {"seconds": 2, "status": 200}

    @server
    async def load(request):
        begun.append(trio.current_time())
        number = len(begun)
        await trio.sleep(plan["seconds"])
        if plan["status"] != 200:
            raise LoaderError("planned", plan["status"])
        ended.append(trio.current_time())
        return {"n": number}
    """


@asynccontextmanager
async def opened(
    root: Path, files: dict[str, str] | None = None, **settings: Any
) -> AsyncIterator[Client]:
    write_tree(root, files or {"pages/index.fxl": page(SLOW)})
    async with open_app(root, mode="production", **settings) as client:
        yield client


def names(client: Client, source: str = "pages/index.fxl") -> dict[str, Any]:
    """Return the module of a page."""
    loader = client.app.site.codes[source].loader
    assert loader is not None
    found: dict[str, Any] = loader.function.__globals__
    return found


async def visit(client: Client, into: list[TestResponse], url: str = "/") -> None:
    into.append(await client.get(url))


async def test_all_who_ask_at_the_same_time_wait_for_one_revalidation(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    answers: list[TestResponse] = []
    async with opened(tmp_path) as client:
        async with trio.open_nursery() as nursery:
            for _ in range(20):
                nursery.start_soon(visit, client, answers)
        assert trio.current_time() == 2
        assert len(names(client)["begun"]) == 1
    assert [(r.status, r.headers["x-fx-cache"]) for r in answers] == [(200, "miss")] * 20
    assert len({r.headers["x-request-id"] for r in answers}) == 20


async def test_the_revalidation_continues_when_the_client_that_began_it_disconnects(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    answers: list[TestResponse] = []
    async with opened(tmp_path) as client:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(leave_after, client, 1.0)
            await wait_all_tasks_blocked()
            nursery.start_soon(visit, client, answers)
        assert trio.current_time() == 2
        assert len(names(client)["begun"]) == len(names(client)["ended"]) == 1
    assert answers[0].status == 200


async def leave_after(client: Client, seconds: float) -> None:
    """Ask for the page and disconnect before it comes."""
    scope = client.scope("http", "/", None)
    scope["method"] = "GET"

    async def receive() -> dict[str, Any]:
        await trio.sleep(seconds)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        raise AssertionError("nobody is there")

    await client.app(scope, receive, send)


async def test_the_revalidation_ends_when_everybody_has_left(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with opened(tmp_path) as client:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(leave_after, client, 0.5)
            nursery.start_soon(leave_after, client, 1.0)
        await trio.sleep(5)
        assert len(names(client)["begun"]) == 1
        assert names(client)["ended"] == []
        answer = await client.get("/")
    assert (answer.status, answer.headers["x-fx-cache"]) == (200, "miss")


async def test_a_failure_answers_all_who_wait_and_the_next_one_retries(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    answers: list[TestResponse] = []
    async with opened(tmp_path) as client:
        plan = names(client)["plan"]
        plan["status"] = 503
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(visit, client, answers)
        assert len(names(client)["begun"]) == 1
        plan["status"] = 200
        assert (await client.get("/")).status == 200
    assert [r.status for r in answers] == [503] * 3


async def test_a_loader_that_takes_too_long_ends_for_all_who_wait_at_its_deadline(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    answers: list[TestResponse] = []
    async with opened(tmp_path, timeouts={"loader": 3}) as client:
        names(client)["plan"]["seconds"] = 100
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(visit, client, answers)
        assert 3 <= trio.current_time() < 3.2
    assert [r.status for r in answers] == [504] * 2


async def test_who_waits_for_a_revalidation_has_a_deadline_of_their_own(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    answers: list[TestResponse] = []
    hook = """
        import trio

        async def slow(connection):
            # Of two visitors the second joins the revalidation with less time left.
            await trio.sleep(float(dict(connection.scope["headers"]).get(b"x-late", b"0")))
        """
    files = {"pages/index.fxl": page(SLOW), "cache_hook_c.py": hook}
    settings = {"timeouts": {"request": 3, "loader": 100}}
    hooks = {"pages": ["cache_hook_c.slow"]}
    async with opened(tmp_path, files, route_middleware=hooks, **settings) as client:
        names(client)["plan"]["seconds"] = 4

        async def waiting() -> None:
            answers.append(await client.get("/", headers={"x-late": "2"}))
            assert 3 <= trio.current_time() < 3.5

        async with trio.open_nursery() as nursery:
            nursery.start_soon(waiting)
            await trio.sleep(1.5)
            nursery.start_soon(visit, client, answers)
    assert [r.status for r in answers] == [504, 504]


async def test_a_stale_response_does_not_wait_and_is_revalidated_once(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    answers: list[TestResponse] = []
    async with opened(tmp_path) as client:
        await client.get("/")
        await trio.sleep(70)
        begin = trio.current_time()
        async with trio.open_nursery() as nursery:
            for _ in range(10):
                nursery.start_soon(visit, client, answers)
        assert trio.current_time() == begin
        await trio.sleep(3)
        assert len(names(client)["begun"]) == 2
        assert (await client.get("/")).headers["x-fx-cache"] == "hit"
    assert [r.headers["x-fx-cache"] for r in answers] == ["stale"] * 10


@pytest.mark.parametrize("failure", [500, 503, 504])
async def test_a_refresh_that_fails_keeps_the_stale_response_and_is_tried_again_later(
    tmp_path: Path, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture, failure: int
) -> None:
    async with opened(tmp_path, cache={"stale": 100}) as client:
        await client.get("/")
        names(client)["plan"].update({"status": failure, "seconds": 0})
        begun = names(client)["begun"]
        await trio.sleep(60)
        for _ in range(5):
            assert (await client.get("/")).headers["x-fx-cache"] == "stale"
            await wait_all_tasks_blocked()
        assert len(begun) == 2
        await trio.sleep(RETRY)
        assert (await client.get("/")).headers["x-fx-cache"] == "stale"
        await wait_all_tasks_blocked()
        assert len(begun) == 3
        await trio.sleep(100)
        expired = await client.get("/")
    assert expired.status == failure


@pytest.mark.parametrize("status", [404, 410])
async def test_a_page_that_no_longer_exists_is_evicted_at_its_revalidation(
    tmp_path: Path, autojump_clock: MockClock, status: int
) -> None:
    async with opened(tmp_path) as client:
        await client.get("/")
        names(client)["plan"].update({"status": status, "seconds": 0})
        await trio.sleep(61)
        assert (await client.get("/")).status == 200
        await wait_all_tasks_blocked()
        assert (await client.get("/")).status == status


async def test_refreshes_at_the_same_time_are_bounded(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with opened(tmp_path) as client:
        names(client)["plan"]["seconds"] = 0
        urls = [f"/?n={number}" for number in range(MOST_REFRESHES + 10)]
        for url in urls:
            await client.get(url)
        await trio.sleep(61)
        names(client)["plan"]["seconds"] = 5
        begun = names(client)["begun"]
        before = len(begun)
        for url in urls:
            assert (await client.get(url)).headers["x-fx-cache"] == "stale"
        await wait_all_tasks_blocked()
        assert len(begun) - before == MOST_REFRESHES


async def test_the_end_of_the_app_cancels_background_revalidations(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with opened(tmp_path) as client:
        await client.get("/")
        await trio.sleep(60)
        names(client)["plan"]["seconds"] = 1000
        assert (await client.get("/")).headers["x-fx-cache"] == "stale"
        await wait_all_tasks_blocked()
        found = names(client)
        end = trio.current_time()
    assert trio.current_time() == end
    assert (len(found["begun"]), len(found["ended"])) == (2, 1)


visitor: ContextVar[str] = ContextVar("visitor", default="nobody")


class Greeting:
    """Middleware that gives pages something, and remembers its visitor in two ways."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            name = dict(scope["headers"]).get(b"x-name", b"nobody").decode()
            visitor.set(name)
            scope.setdefault("state", {})["greeting"] = f"Hello, {name}"
            scope["state"]["name"] = visitor.get
        await self._app(scope, receive, send)


async def test_a_revalidation_passes_the_app_s_middleware_as_nobody(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    python = """
        import trio

        CACHE = {"revalidate": 60}

        @server
        async def load(request):
            await trio.sleep(1)
            return {"greeting": request.state.greeting, "name": request.state.name()}
        """
    middleware = [f"{__name__}.Greeting"]
    async with opened(tmp_path, {"pages/index.fxl": page(python)}, middleware=middleware) as client:
        first = await client.load_page("/", headers={"x-name": "Ann"})
        await trio.sleep(60)
        await client.load_page("/", headers={"x-name": "Bob"})
        await trio.sleep(2)
        later = await client.load_page("/", headers={"x-name": "Cid"})
    assert first.data == later.data == {"greeting": "Hello, nobody", "name": "nobody"}


SHOP = """
    CACHE = {"revalidate": 60}
    seen = []

    @server
    async def load(request):
        seen.append(1)
        return {"n": len(seen)}

    @action
    async def sell(request):
        return invalidate_routes({}, *(await request.json())["urls"])
    """


@pytest.mark.parametrize(
    ("url", "evicted"),
    [
        ("/shop/1", ["/shop/1", "/shop/1?a=1", "/shop/1.md"]),
        ("/shop/1/?b=2#c", ["/shop/1", "/shop/1?a=1", "/shop/1.md"]),
        ("/shop/%31", ["/shop/1", "/shop/1?a=1", "/shop/1.md"]),
        ("/shop/[id]", ["/shop/1", "/shop/1?a=1", "/shop/1.md", "/shop/2"]),
        ("/", ["/"]),
        ("/shop", []),
        ("", []),
    ],
)
@pytest.mark.parametrize("base_url", ["", "/app"])
@pytest.mark.parametrize("by", ["action", "hand"])
async def test_an_invalidated_page_is_rendered_again(
    tmp_path: Path, url: str, evicted: list[str], base_url: str, by: str
) -> None:
    files = {"pages/index.fxl": page(SHOP), "pages/shop/[id].fxl": page(SHOP)}
    urls = ["/", "/shop/1", "/shop/1?a=1", "/shop/1.md", "/shop/2"]
    async with opened(tmp_path, files, base_url=base_url, llms=True) as client:
        for each in urls:
            assert (await client.get(base_url + each)).headers["x-fx-cache"] == "miss"
        invalidated = base_url + url if url else ""
        if by == "action":
            result = await client.action("/", "sell", {"urls": [invalidated]})
            assert (result.headers.get("x-fx-invalidate") is None) is (not url)
        else:
            cache = client.app.state.fx.cache
            assert cache.drop(invalidated) == len(evicted)
        found = {each: (await client.get(base_url + each)).headers["x-fx-cache"] for each in urls}
    assert [each for each, state in found.items() if state == "miss"] == evicted


async def test_what_was_loaded_before_an_invalidation_is_not_cached_after_it(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    answers: list[TestResponse] = []
    async with opened(tmp_path) as client:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(visit, client, answers)
            await trio.sleep(1)
            client.app.state.fx.cache.drop("/")
            nursery.start_soon(visit, client, answers)
        assert trio.current_time() == 3
        assert len(names(client)["begun"]) == 2
        response = await client.get("/")
        assert response.headers["x-fx-cache"] == "hit"
        assert '"n":2' in response.text
    assert ['"n":1' in answer.text for answer in answers] == [True, False]


async def test_revalidate_works_from_a_job_a_thread_and_an_endpoint(tmp_path: Path) -> None:
    endpoint = """
        import trio
        from fx.cache import revalidate
        from fx.tasks import enqueue
        from starlette.responses import JSONResponse

        async def post(request):
            how = request.query_params["how"]
            if how == "here":
                revalidate("/")
            elif how == "thread":
                await trio.to_thread.run_sync(revalidate, "/")
            else:
                done = trio.Event()

                async def job():
                    revalidate("/")
                    done.set()

                enqueue(job)
                await done.wait()
            return JSONResponse({})
        """
    files = {"pages/index.fxl": page(SHOP), "pages/api/hook.py": endpoint}
    with trio.fail_after(20):
        async with opened(tmp_path, files) as client:
            for how in ("here", "thread", "job"):
                await client.get("/")
                assert (await client.get("/")).headers["x-fx-cache"] == "hit"
                assert (await client.post(f"/api/hook?how={how}")).status == 200
                assert (await client.get("/")).headers["x-fx-cache"] == "miss", how


async def test_revalidate_outside_a_running_app_says_so() -> None:
    with pytest.raises(AppNotRunning):
        revalidate("/")


class Parts:
    """A render in two parts, with a script in the second."""

    def __init__(self, payload: bytes) -> None:
        self._nonce = payload.partition(b'"nonce":"')[2].partition(b'"')[0]

    async def __aiter__(self) -> AsyncIterator[Rendered]:
        yield Rendered(b"<title>T</title>", b"<p>shell</p>")
        await trio.sleep(1)
        yield Rendered(b"", b'<script nonce="%b">1</script></div>' % self._nonce)

    async def resolve(self, name: str, value: bytes) -> None:
        raise AssertionError("all loaders have run before")

    async def reject(self, name: str, error: bytes) -> None:
        raise AssertionError("all loaders have run before")


class StreamingRenderer:
    async def render(self, page: int, payload: bytes) -> Rendered:
        return Rendered(b"", b"whole")

    @asynccontextmanager
    async def stream(self, page: int, payload: bytes) -> AsyncIterator[Parts]:
        yield Parts(payload)


@asynccontextmanager
async def open_streaming() -> AsyncIterator[StreamingRenderer]:
    yield StreamingRenderer()


async def test_a_page_that_streams_is_cached_when_it_is_whole(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    files = {
        "pages/index.fxl": page(SLOW),
        "pages/loading.fxl": page(""),
        "pages/error.fxl": page(""),
    }
    async with opened(tmp_path, files, open_renderer=open_streaming) as client:
        names(client)["plan"]["status"] = 410
        failed = await client.get("/")
        names(client)["plan"]["status"] = 200
        answers = [await client.get("/") for _ in range(2)]
    assert failed.status == 410  # a stream would have begun with 200
    assert [r.headers["x-fx-cache"] for r in answers] == ["miss", "hit"]
    for answer in answers:
        nonce = answer.headers["content-security-policy-report-only"].partition("'nonce-")[2][:32]
        assert '<div id="fx-root">whole</div>' in answer.text
        assert f'"nonce":"{nonce}"' in answer.text
        assert '"props":{"data":{"n":2}' in answer.text
        assert '"deferred"' not in answer.text
        assert answer.text.endswith("</html>")
    assert answers[0].text != answers[1].text
