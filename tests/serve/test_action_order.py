"""An action is checked in an order: method, action, proof, hooks, and only then the body."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio
from starlette.types import Message
from trio.testing import MockClock

from fx.testing import Client, open_app
from tests.trees import page, write_tree

HOOKS = """
    from starlette.responses import PlainTextResponse

    async def keep(connection):
        if "x-slow" in connection.headers:
            import trio
            await trio.sleep(3600)
        if "x-key" not in connection.headers:
            return PlainTextResponse("no", 401)

    async def reading(connection):
        if (await connection.json()).get("word") != "open":
            return PlainTextResponse("no", 401)
    """
PAGE = """
    @action
    async def save(request):
        request.app.state.ran = True
        return {"got": await request.json()}

    @action
    async def leave(request):
        request.state.background.add_task(request.app.state.done.append, "sent")
        return {"background": [request.app.state.done.append, "more"], "value": object()}
    """
URL = "/api/__actions/index/save"
FORM = {"content-type": "application/x-www-form-urlencoded"}


def project(root: Path) -> tuple[Path, str]:
    name = f"order_hooks_{abs(hash(root))}"
    return write_tree(root, {f"{name}.py": HOOKS, "pages/index.fxl": page(PAGE)}), name


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    root, name = project(tmp_path)
    async with open_app(root, route_middleware={"pages": [f"{name}.keep"]}) as opened:
        opened.app.state.ran = False
        yield opened


async def post(
    client: Client, headers: dict[str, str], *, body: bytes = b"a=b", endless: bool = False
) -> tuple[int, int]:
    """Post a form; return the status, and how often the body was read."""
    reads = 0
    statuses: list[int] = []

    async def receive() -> Message:
        nonlocal reads
        reads += 1
        if endless:
            await trio.sleep_forever()
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {**client.scope("http", URL, {**FORM, **headers}), "method": "POST"}
    await client.app(scope, receive, send)
    return statuses[0], reads


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "cross-site", "x-key": "1"}, 403),
        ({"sec-fetch-site": "", "x-key": "1"}, 403),
        ({"sec-fetch-site": "", "x-key": "1", "cookie": "fx-csrf=made.up"}, 403),
        ({"sec-fetch-site": "", "x-key": "1", "content-type": "application/json"}, 403),
        ({}, 401),
    ],
)
async def test_nothing_of_a_body_is_read_before_the_proof_and_the_guard(
    client: Client, headers: dict[str, str], status: int
) -> None:
    assert await post(client, headers, endless=True) == (status, 0)
    assert client.app.state.ran is False


async def test_a_form_with_the_token_passes_the_guard_before_it_is_read(client: Client) -> None:
    token = (await client.get("/api/__csrf")).json()["token"]
    bare = {"sec-fetch-site": "", "cookie": f"fx-csrf={token}"}
    body = f"_csrf_token={token}&a=b".encode()
    assert await post(client, bare, body=body) == (401, 0)
    assert await post(client, {**bare, "x-key": "1"}, body=b"_csrf_token=no") == (403, 1)
    assert client.app.state.ran is False
    assert await post(client, {**bare, "x-key": "1"}, body=body) == (200, 1)
    assert client.app.state.ran is True


@pytest.mark.parametrize(("slow", "status", "reads"), [("x-slow", 504, 0), ("x-key", 408, 1)])
async def test_hooks_and_body_have_a_deadline_each(
    client: Client, autojump_clock: MockClock, slow: str, status: int, reads: int
) -> None:
    assert await post(client, {slow: "1"}, endless=True) == (status, reads)
    assert client.app.state.ran is False


async def test_a_hook_that_reads_the_body_leaves_it_to_the_action(tmp_path: Path) -> None:
    root, name = project(tmp_path)
    async with open_app(root, route_middleware={"actions": [f"{name}.reading"]}) as client:
        rejected = await client.post(URL, json={"word": "shut"})
        allowed = await client.post(URL, json={"word": "open"})
    assert (rejected.status, allowed.status) == (401, 200)
    assert allowed.json()["got"] == {"word": "open"}


async def test_an_action_keeps_running_when_its_result_cannot_be_sent(
    tmp_path: Path,
) -> None:
    root, _ = project(tmp_path)
    async with open_app(root) as client:
        done: list[str] = []
        client.app.state.done = done
        answer = await client.post("/api/__actions/index/leave", json={})
        with trio.fail_after(5):
            while len(done) < 2:
                await trio.testing.wait_all_tasks_blocked(0.001)
    assert answer.status == 500
    assert sorted(done) == ["more", "sent"]


async def test_an_action_keeps_running_when_the_client_has_disconnected(
    tmp_path: Path,
) -> None:
    root, _ = project(tmp_path)
    async with open_app(root) as client:
        done: list[str] = []
        client.app.state.done = done
        scope = {**client.scope("http", "/api/__actions/index/leave", {}), "method": "POST"}

        async def receive() -> Message:
            return {"type": "http.request", "body": b"{}", "more_body": False}

        async def send(message: Any) -> None:
            raise OSError("gone")

        with pytest.raises(OSError, match="gone"):
            await client.app(scope, receive, send)
        with trio.fail_after(5):
            while len(done) < 2:
                await trio.testing.wait_all_tasks_blocked(0.001)


MISTAKEN = """
    @action
    async def fail(request):
        raise ActionError("no", 409)
    """


@pytest.mark.parametrize(
    "referer", ["http://[", "http://[::1", "//[", "http://a]b/", "http://\x80"]
)
async def test_a_referer_that_is_no_url_is_ignored(tmp_path: Path, referer: str) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(MISTAKEN)})
    headers = {"accept": "text/html", "referer": referer}
    async with open_app(tmp_path) as client:
        url = "/api/__actions/index/fail"
        assert (await client.post(url, data={"a": "b"}, headers=headers)).status == 409
