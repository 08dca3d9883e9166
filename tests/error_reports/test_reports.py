"""Each defect reaches the application's function once, with what is known of it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import sentry_sdk
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from fx.realtime import Event
from fx.testing import Client, open_app
from fxtrio.context import entered
from fxtrio.limiters import limiter_of
from fxtrio.plugins.error_reports.plugin import CAPACITY, LIMIT, ErrorFunctionInvalid
from fxtrio.plugins.protocol import PluginFailed
from fxtrio.serve.pages.error_response import log_failure
from fxtrio.ssr.errors import RenderFailed
from tests.trees import page, write_tree

CANARY = "canary-5d0e"
MODULE = """
    import threading

    REPORTS = []

    class User:
        id = 7

    async def sign_in(request):
        request.state.user = User()

    async def keep(report):
        REPORTS.append(report)

    STOPPED = threading.Event()

    def block(report):
        REPORTS.append(report)
        STOPPED.wait()

    def fail(report):
        REPORTS.append(report)
        raise ValueError("no network")

    def leave(report):
        REPORTS.append(report)
        raise SystemExit(3)

    async def cancel(report):
        REPORTS.append(report)
        import trio

        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            raise KeyboardInterrupt

    def send(report):
        import sentry_sdk

        with sentry_sdk.new_scope() as scope:
            scope.set_tag("route", report.route)
            scope.set_tag("request_id", report.request_id)
            scope.set_context("fxtrio", {"place": report.place})
            sentry_sdk.capture_exception(report.error)
    """
PAGE = """
    import attrs
    import trio
    from fx.runtime import defer
    from fx.tasks import enqueue

    @attrs.frozen
    class Frozen(Exception):
        word: str

    async def work():
        raise RuntimeError("in a job")

    async def late():
        raise RuntimeError("deferred")

    @server
    async def load(request):
        kind = request.path_params["id"]
        if kind == "good":
            return {}
        if kind == "frozen":
            raise Frozen("frozen")
        if kind == "unencoded":
            return {"value": object()}
        if kind == "grouped":
            async with trio.open_nursery() as nursery:
                nursery.start_soon(work)
        if kind == "deferred":
            return {"late": defer(late)}
        raise RuntimeError("in a loader")

    @action
    async def save(request):
        enqueue(work)
        return {}

    @action
    async def broken(request):
        raise RuntimeError("in an action")

    @action
    async def later(request):
        request.state.background.add_task(work)
        return {}

    @stream
    async def ticks(request):
        yield 1
        raise RuntimeError("in a stream")

    async def websocket(ws):
        await ws.accept()
        raise RuntimeError("in a socket")
    """


def project(root: Path, name: str) -> tuple[Path, dict[str, Any]]:
    module = f"reports_{name}"
    write_tree(root, {f"{module}.py": MODULE, "pages/book/[id].fxl": page(PAGE)})
    hooks = {"pages": [f"{module}:sign_in"]}
    observability = {"errors": f"{module}:{name}", "release": "2.4"}
    return root, {"observability": observability, "route_middleware": hooks}


def reports_of(name: str) -> list[Any]:
    found: list[Any] = sys.modules[f"reports_{name}"].REPORTS
    return found


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    root, settings = project(tmp_path, "keep")
    async with open_app(root, **settings) as client:
        reports_of("keep").clear()
        yield client


async def test_a_defect_is_reported_with_request_route_user_release_and_place(
    client: Client,
) -> None:
    answer = await client.get(f"/book/{CANARY}?token={CANARY}")
    await wait_all_tasks_blocked()

    assert answer.status == 500
    [report] = reports_of("keep")
    assert str(report.error) == "in a loader"
    assert report.request_id == answer.headers["x-request-id"]
    assert (report.method, report.route) == ("GET", "/book/[id]")
    assert (report.user_id, report.release) == ("7", "2.4")
    assert report.place.startswith("pages/book/[id].fxl:")
    assert report.place.endswith(" load")
    assert CANARY not in f"{report.place} {report.route} {report.message}"


async def test_actions_jobs_and_sockets_are_reported_once_each(client: Client) -> None:
    await client.post("/api/__actions/book/1/broken", json={})
    await client.post("/api/__actions/book/1/save", json={})
    async with client.websocket("/book/1"):
        await wait_all_tasks_blocked()
    await wait_all_tasks_blocked()

    found = {str(report.error): report for report in reports_of("keep")}
    assert sorted(found) == ["in a job", "in a socket", "in an action"]
    assert len(reports_of("keep")) == 3
    assert found["in a job"].place.endswith(" work")
    assert found["in a job"].request_id is not None


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("frozen", "raise Frozen"),
        ("grouped", 'RuntimeError("in a job")'),
        ("deferred", 'RuntimeError("deferred")'),
    ],
)
async def test_every_failure_of_a_page_is_reported_once_with_its_traceback(
    client: Client, kind: str, place: str
) -> None:
    await client.load_page(f"/book/{kind}")
    await wait_all_tasks_blocked()

    [report] = reports_of("keep")
    file, _, line = report.place.partition(" ")[0].partition(":")
    assert place in (client.app._root / file).read_text().splitlines()[int(line) - 1]
    assert report.error.__traceback__ is not None


async def test_failures_without_a_traceback_have_their_place(client: Client) -> None:
    await client.get("/book/unencoded")
    failed = RenderFailed("in a render", f"Error\n at Page ({client.app._root}/pages/x.fxl:7:3)")
    with entered(client.app.state.fx):
        log_failure(failed, "pages/x.fxl")
    await wait_all_tasks_blocked()

    found = [(type(one.error).__name__, one.place) for one in reports_of("keep")]
    assert found == [
        ("NotSerializable", "pages/book/[id].fxl: load()"),
        ("RenderFailed", "pages/x.fxl:7"),
    ]


async def test_streams_and_background_tasks_are_reported_once_each(client: Client) -> None:
    async with client.read_stream("/book/1", "ticks") as ticks:
        assert [one.data async for one in ticks if isinstance(one, Event)] == [1]
    await client.action("/book/1", "later")
    await wait_all_tasks_blocked()

    found = [(str(one.error), one.route) for one in reports_of("keep")]
    assert found == [("in a stream", "/book/[id]"), ("in a job", "/book/[id]")]


async def test_a_plugin_that_fails_is_reported_before_the_app_ends(tmp_path: Path) -> None:
    plugin = """
        from contextlib import asynccontextmanager
        import trio
        from fxtrio.plugins import Plugin

        class Mail(Plugin):
            name = "mail"

            @asynccontextmanager
            async def open(self, app):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self.deliver)
                    yield
                    nursery.cancel_scope.cancel()

            async def deliver(self):
                raise OSError("no mail server")
        """
    root, settings = project(tmp_path, "keep")
    write_tree(root, {"failing_mail.py": plugin})
    with pytest.raises(PluginFailed, match="'mail': failed while it ran: OSError"):
        async with open_app(root, plugins=["failing_mail:Mail"], **settings):
            await trio.sleep_forever()

    [report] = reports_of("keep")
    assert isinstance(report.error, PluginFailed)
    assert report.place.startswith("failing_mail.py:")


async def test_a_function_that_blocks_holds_one_thread_and_nobody_up(
    tmp_path: Path, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    root, settings = project(tmp_path, "block")
    try:
        async with open_app(root, **settings) as client:
            for _ in range(CAPACITY + 3):
                assert (await client.get("/book/1")).status == 500
            threads = limiter_of("reports").borrowed_tokens, limiter_of("calls").borrowed_tokens
            await trio.sleep(LIMIT * 3)
    finally:
        sys.modules["reports_block"].STOPPED.set()

    assert threads == (1, 0)
    assert len(reports_of("block")) == 1
    messages = {one.getMessage() for one in caplog.records if one.name == "fx.errors"}
    assert messages == {
        "'observability.errors' took longer than 10 s for a report",
        "a report was dropped: 100 wait for 'observability.errors'",
    }


async def test_expected_outcomes_are_not_reported(client: Client) -> None:
    await client.get("/book/good")
    await client.get("/nowhere")
    await client.post("/api/__actions/book/1/nothing", json={})
    await wait_all_tasks_blocked()

    assert reports_of("keep") == []


@pytest.mark.parametrize("name", ["fail", "leave", "cancel"])
async def test_a_function_that_fails_is_logged_and_called_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    root, settings = project(tmp_path, name)
    async with open_app(root, **settings) as client:
        reports_of(name).clear()
        for _ in range(2):
            await client.get("/book/1")
            await wait_all_tasks_blocked()
        assert (await client.get("/book/good")).status == 200
    assert len(reports_of(name)) == 2  # the end of the app waits for the last one
    failures = [one for one in caplog.records if one.name == "fx.errors"]
    assert [one.getMessage() for one in failures] == ["'observability.errors' failed"] * 2


async def test_a_name_that_is_not_a_function_stops_the_start(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page("")})
    with pytest.raises(ErrorFunctionInvalid, match="which cannot be imported"):
        async with open_app(tmp_path, observability={"errors": "nothing:there"}):
            pass


async def test_sentry_gets_a_defect(tmp_path: Path) -> None:
    """As the guide describes it, with a receiver of Sentry's protocol."""
    received: list[bytes] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Receiver)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    dsn = f"http://key@127.0.0.1:{server.server_port}/1"
    plain: Any = {"transport_compression_level": 0}
    sentry_sdk.init(dsn=dsn, default_integrations=False, _experiments=plain)
    try:
        root, settings = project(tmp_path, "send")
        async with open_app(root, **settings) as client:
            await client.get("/book/1")
        await trio.to_thread.run_sync(sentry_sdk.flush, 5)
    finally:
        sentry_sdk.init(default_integrations=False)  # others would patch Starlette for good
        server.shutdown()
        thread.join()
        server.server_close()
    whole = b"".join(received).decode(errors="replace")
    assert "in a loader" in whole
    assert '"route":"/book/[id]"' in whole
    assert '"function":"load"' in whole  # a frame of the traceback
    assert "pages/book/[id].fxl" in whole
