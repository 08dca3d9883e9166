"""Which app code belongs to that no loader, action or handler of it has begun.

Middleware belongs to the app that lists it. A thread, and ASGI code around an app, belong
to the only app of their process; where there are several, what they call says so.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from fxtrio.app_handle import get_app
from fxtrio.application import Application
from fxtrio.asyncio_portal import portal
from fxtrio.cache import revalidate
from fxtrio.context import current
from fxtrio.db import db
from fxtrio.errors import AppNotRunning, FxtrioError
from fxtrio.jobs import job
from fxtrio.realtime import publish
from fxtrio.tasks import TaskQueueNotRunning, enqueue
from fxtrio.testing import Client, open_app

JOBS = """
from fx.jobs import job

@job()
async def count():
    pass
"""
PAGE = """
import MODULE
from shop.errands import run_thread

@server
async def load(request):
    return {}

@action
async def begin(request):
    await run_thread()
    return {}

export default function Page() { return <p>Shop</p>; }
"""
ran: list[str] = []
"""What jobs have noted; emptied before each test."""
failed: list[BaseException] = []


@pytest.fixture(autouse=True)
def _nothing_noted() -> None:
    ran.clear()
    failed.clear()


@job()
async def stocktake() -> None:
    raise AssertionError  # enqueued where nothing takes it


async def note(name: str) -> None:
    ran.append(name)


async def use_everything(name: str) -> None:
    """Call each function that looks for the running app."""
    enqueue(note, name)
    await publish("news", {"from": name})
    revalidate("/")
    await db.value("SELECT 1")
    await portal(_on_asyncio)
    app = get_app()
    assert app is not None and app.jobs is not None
    for found in app.jobs.jobs.values():
        await found.enqueue()


async def _on_asyncio() -> None:
    assert get_app() is not None


class Counting:
    """Middleware of an application."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await use_everything("before")
        await self.app(scope, receive, send)
        await use_everything("after")


class Around:
    """ASGI code around an app, which the app knows nothing of."""

    def __init__(self, app: Any, use: Callable[[str], Awaitable[None]] = use_everything) -> None:
        self.app = app
        self.use = use
        self.errors: list[BaseException] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await self.use("around")
        except FxtrioError as error:
            self.errors.append(error)
        await self.app(scope, receive, send)


def write_project(root: Path) -> Path:
    pages = root / "pages"
    pages.mkdir(parents=True)
    module = f"stock_of_{root.parent.name}_{root.name}".replace("-", "_")
    (root / f"{module}.py").write_text(JOBS)
    (pages / "index.fxl").write_text(
        PAGE.replace("shop.errands", __name__).replace("MODULE", module)
    )
    return root


async def run_thread() -> None:
    """Run a thread as libraries begin theirs, and wait for it."""

    def work() -> None:
        try:
            enqueue(note, "thread")
            revalidate("/")
            app = get_app()
            assert app is not None
            trio.from_thread.run(use_everything, "bridge", trio_token=app.loop)
        except BaseException as error:
            failed.append(error)

    # An empty context, which is what threads have before Python 3.14 in any case.
    thread = threading.Thread(target=contextvars.Context().run, args=(work,))
    thread.start()
    await trio.to_thread.run_sync(thread.join)


async def never(*_: Any) -> Any:
    raise AssertionError


DATABASE: dict[str, Any] = {"database": {"url": "sqlite:///app.db"}}


async def outside(func: Callable[[], Awaitable[None]]) -> None:
    """Run ``func`` in a task that belongs to no app."""

    async def run() -> None:
        current.set(None)
        await func()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)


async def test_middleware_of_the_settings_belongs_to_the_app(tmp_path: Path) -> None:
    root = write_project(tmp_path)
    settings: dict[str, Any] = {**DATABASE, "middleware": [f"{__name__}:Counting"]}
    async with open_app(root, **settings) as client:

        async def visit() -> None:
            assert (await client.get("/")).status_code == 200

        await outside(visit)
        await trio.testing.wait_all_tasks_blocked()
    assert {"before", "after"} <= set(ran)


async def test_middleware_of_two_apps_in_one_process_belongs_to_its_own(tmp_path: Path) -> None:
    seen: dict[str, list[object]] = {"a": [], "b": []}

    class Noting(Around):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            seen[scope["query_string"].decode()].append(get_app())
            await self.app(scope, receive, send)

    apps: dict[str, Application] = {}
    async with (
        open_app(write_project(tmp_path / "a")) as a,
        open_app(write_project(tmp_path / "b")) as b,
    ):
        for name, client in (("a", a), ("b", b)):
            apps[name] = client.app
            client.app.add_middleware(Noting)

        async def visit() -> None:
            for name, client in (("a", a), ("b", b)):
                assert (await client.get(f"/?{name}")).status_code == 200

        await outside(visit)
    assert seen == {name: [app.state.fx] for name, app in apps.items()}


async def test_code_around_the_only_app_of_a_process_belongs_to_it(tmp_path: Path) -> None:
    async with open_app(write_project(tmp_path), **DATABASE) as opened:
        wrapped = Around(opened.app)

        async def visit() -> None:
            assert (await Client(wrapped).get("/")).status_code == 200  # type: ignore[arg-type]

        await outside(visit)
        await trio.testing.wait_all_tasks_blocked()
    assert wrapped.errors == []
    assert "around" in ran


async def test_a_thread_that_an_action_begins_belongs_to_the_app(tmp_path: Path) -> None:
    async with open_app(write_project(tmp_path), **DATABASE) as client:
        assert (await client.action("/", "begin")).ok
        await trio.testing.wait_all_tasks_blocked()
    assert failed == []
    assert {"thread", "bridge"} <= set(ran)


ASKS: dict[str, Callable[[], Any]] = {
    "enqueue": lambda: enqueue(note, "x"),
    "publish": lambda: publish("news", {}),
    "revalidate": lambda: revalidate("/"),
    "db": lambda: db.value("SELECT 1"),
    "job": lambda: stocktake.enqueue(),
    "portal": lambda: portal(_on_asyncio),
}


@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
async def test_code_of_neither_of_two_apps_gets_an_error(
    tmp_path: Path, ask: Callable[[], Any]
) -> None:
    errors: list[FxtrioError] = []

    async def call() -> None:
        with pytest.raises(FxtrioError) as caught:
            result = ask()
            if isinstance(result, Awaitable):
                await result
        errors.append(caught.value)

    async with open_app(write_project(tmp_path / "a")), open_app(write_project(tmp_path / "b")):
        await outside(call)
    await outside(call)
    assert "2 apps run in this process" in str(errors[0])
    assert "copy_context" in str(errors[0])
    assert "no app of fxtrio runs here" in str(errors[1])


async def test_code_on_another_event_loop_does_not_reach_the_app(tmp_path: Path) -> None:
    messages: list[str] = []

    async def main() -> None:
        with pytest.raises(TaskQueueNotRunning) as caught:
            enqueue(note, "x")
        messages.append(str(caught.value))

    def run() -> None:
        trio.run(main)

    async with open_app(write_project(tmp_path)):
        thread = threading.Thread(target=contextvars.Context().run, args=(run,))
        thread.start()
        await trio.to_thread.run_sync(thread.join)
    assert "another event loop" in messages[0]


async def test_what_an_app_has_begun_finds_no_other_one_once_it_has_ended(tmp_path: Path) -> None:
    async with open_app(write_project(tmp_path / "a")):
        context = contextvars.copy_context()
    async with open_app(write_project(tmp_path / "b")):
        with pytest.raises(TaskQueueNotRunning, match="the app has ended"):
            context.run(enqueue, note, "x")


async def test_middleware_of_an_app_whose_lifespan_nobody_runs_says_so(tmp_path: Path) -> None:
    async with open_app(write_project(tmp_path)) as client:
        app = client.app
    app.add_middleware(Around)
    app.middleware_stack = None
    with pytest.raises(AppNotRunning, match="open_mounted"):
        await app(client.scope("http", "/", {}), never, never)
