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
from trio.testing import wait_all_tasks_blocked

from fx.testing import Client, open_app
from fxtrio.plugins.error_reports.plugin import ErrorFunctionInvalid
from tests.trees import page, write_tree

CANARY = "canary-5d0e"
MODULE = """
    REPORTS = []

    class User:
        id = 7

    async def sign_in(request):
        request.state.user = User()

    async def keep(report):
        REPORTS.append(report)

    def fail(report):
        REPORTS.append(report)
        raise ValueError("no network")

    def send(report):
        import sentry_sdk

        with sentry_sdk.new_scope() as scope:
            scope.set_tag("route", report.route)
            scope.set_tag("request_id", report.request_id)
            scope.set_context("fxtrio", {"place": report.place})
            sentry_sdk.capture_exception(report.error)
    """
PAGE = """
    from fx.tasks import enqueue

    async def work():
        raise RuntimeError("in a job")

    @server
    async def load(request):
        if request.path_params["id"] == "good":
            return {}
        raise RuntimeError("in a loader")

    @action
    async def save(request):
        enqueue(work)
        return {}

    @action
    async def broken(request):
        raise RuntimeError("in an action")

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


async def test_what_is_expected_is_not_reported(client: Client) -> None:
    await client.get("/book/good")
    await client.get("/nowhere")
    await client.post("/api/__actions/book/1/nothing", json={})
    await wait_all_tasks_blocked()

    assert reports_of("keep") == []


async def test_a_function_that_fails_is_logged_and_called_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root, settings = project(tmp_path, "fail")
    async with open_app(root, **settings) as client:
        reports_of("fail").clear()
        for _ in range(2):
            await client.get("/book/1")
    assert len(reports_of("fail")) == 2  # the end of the app waits for the last one
    failures = [one for one in caplog.records if one.name == "fx.errors"]
    assert [one.getMessage() for one in failures] == ["'observability.errors' failed"] * 2


async def test_a_name_that_is_no_function_stops_the_start(tmp_path: Path) -> None:
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
    assert "pages/book/[id].fxl" in whole
