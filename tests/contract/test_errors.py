"""What errors lead to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from fx.tasks import TaskQueueError, TaskQueueFull, TaskQueueNotRunning, enqueue
from fx.testing import TestResponse
from fxtrio.compile.problems import CompileFailed
from fxtrio.context import entered
from tests.contract.projects import open_pages, problems_of
from tests.contract.rules import rule

Responses = dict[str, TestResponse]
RAISES = """
    @server
    async def load(request):
        raise {error}
"""
ACTS = """
    from pydantic import BaseModel

    class Body(BaseModel):
        n: int

    ran = []

    @action
    async def plain(request):
        raise ActionError("no")

    @action
    async def full(request):
        raise ActionError("no", 409, {"left": 3}, fields={"name": ["taken"]})

    @action
    async def typed(request, body: Body):
        ran.append(body.n)
        raise ValidationActionError("Look", fields={"n": ["odd"]})

    @action
    async def report(request):
        return {"ran": ran}
"""


@pytest.mark.node
@rule("errors.1", "errors.loader_1")
def test_errors_1_the_nearest_boundary_shows_the_message(responses: Responses) -> None:
    response = responses["/broken/sold%20out%20%3Cb%3E"]
    assert response.status == 409
    assert '<main id="nearest-error"><h1>sold out &lt;b&gt;</h1>' in response.text
    code = re.search("<code>(.*?)</code>", response.text)
    assert code is not None
    assert code[1] == "409 LoaderError {&quot;seen&quot;:[1,null]}"
    assert "<header>The tour</header>" in response.text
    assert "root-error" not in response.text


@rule("errors.1")
@pytest.mark.parametrize(
    ("path", "boundary"),
    [("/", "error"), ("/shop", "shop/error"), ("/shop/deep/5", "shop/error"), ("/x", "error")],
)
async def test_errors_1_boundaries_are_found_by_folder_and_the_status_is_500(
    tmp_path: Path, path: str, boundary: str
) -> None:
    raises = RAISES.format(error='LoaderError("gone")')
    pages = ("index", "x", "shop/index", "shop/deep/[id]")
    files = {**dict.fromkeys(pages, raises), "error": "", "shop/error": ""}
    async with open_pages(tmp_path, files) as client:
        loaded = await client.load_page(path)
    assert (loaded.status, loaded.error) == (500, "gone")
    assert loaded.payload["boundary"] == f"pages/{boundary}.fxl"


@rule("errors.1")
async def test_errors_1_a_boundary_outside_a_layout_shows_its_failure(
    tmp_path: Path,
) -> None:
    raises = RAISES.format(error='LoaderError("no shop", 503)')
    files = {"shop/layout": raises, "shop/index": "", "error": "", "shop/error": ""}
    async with open_pages(tmp_path, files) as client:
        loaded = await client.load_page("/shop")
    assert (loaded.status, loaded.error) == (503, "no shop")
    assert loaded.payload["boundary"] == "pages/error.fxl"


@rule("errors.2")
@pytest.mark.parametrize("status", [200, 201, 404, 503])
async def test_errors_2_the_int_of_a_loader_is_the_status(tmp_path: Path, status: int) -> None:
    text = f"@server\nasync def load(request):\n    return {{'n': 1}}, {status}"
    async with open_pages(tmp_path, {"index": text, "error": "", "not-found": ""}) as client:
        html, loaded = await client.get("/"), await client.load_page("/")
    assert (html.status, loaded.status, loaded.payload["ok"]) == (status, status, True)
    assert loaded.data == {"n": 1}


async def _act(root: Path, name: str, body: Any = None, **options: Any) -> tuple[int, Any]:
    async with open_pages(root, ACTS, **options) as client:
        response = await client.post(f"/api/__actions/index/{name}", json=body or {})
    return response.status, response.json()


@rule("errors.3", "errors.action_1")
async def test_errors_3_an_action_error_is_json_with_its_data_and_fields(tmp_path: Path) -> None:
    assert await _act(tmp_path, "plain") == (400, {"ok": False, "error": "no"})
    full = {"ok": False, "error": "no", "data": {"left": 3}, "fields": {"name": ["taken"]}}
    assert await _act(tmp_path, "full") == (409, full)


@rule("errors.4")
async def test_errors_4_a_validation_error_is_a_422_and_the_model_comes_first(
    tmp_path: Path,
) -> None:
    async with open_pages(tmp_path, ACTS) as client:
        failed = await client.action("/", "typed", {"n": "x"})
        assert (await client.action("/", "report")).data == {"ran": []}
        raised = await client.action("/", "typed", {"n": 1})
        assert (await client.action("/", "report")).data == {"ran": [1]}
    assert (failed.status, failed.error, list(failed.fields)) == (422, "Validation failed", ["n"])
    assert (raised.status, raised.error, raised.fields) == (422, "Look", {"n": ["odd"]})


@rule("errors.5")
async def test_errors_5_enqueue_outside_a_running_app_raises(tmp_path: Path) -> None:
    with pytest.raises(TaskQueueNotRunning):
        enqueue(print)
    async with open_pages(tmp_path, "") as client:
        handle = client.app.state.fx
    with entered(handle), pytest.raises(TaskQueueNotRunning):
        enqueue(print)
    assert issubclass(TaskQueueNotRunning, TaskQueueError)


@rule("errors.6")
async def test_errors_6_enqueue_at_capacity_raises_in_the_action(tmp_path: Path) -> None:
    text = """
    import trio
    from fx.tasks import TaskQueueFull, enqueue

    @action
    async def fill(request):
        count = 0
        try:
            while True:
                enqueue(request.app.state.release.wait)
                count += 1
        except TaskQueueFull as full:
            return {"count": count, "capacity": full.capacity}
    """
    async with open_pages(tmp_path, text, tasks={"workers": 1, "capacity": 7}) as client:
        client.app.state.release = trio.Event()
        result = await client.action("/", "fill")
        client.app.state.release.set()
    assert result.data == {"count": 7, "capacity": 7}
    assert issubclass(TaskQueueFull, TaskQueueError)


@rule("errors.7")
async def test_errors_7_a_task_that_raises_is_logged_and_the_worker_continues(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ran = []

    async def broken() -> None:
        raise RuntimeError("the task is broken")

    async def next_one() -> None:
        ran.append("next")

    async with open_pages(tmp_path, "", tasks={"workers": 1}) as client:
        client.app.state.fx_tasks.enqueue(broken)
        client.app.state.fx_tasks.enqueue(next_one)
        await wait_all_tasks_blocked()
    assert ran == ["next"]
    assert "the task is broken" in caplog.text


INVALID = {
    "loader": "@server\ndef load(request):\n    return {}",
    "action": "@action\ndef save(request):\n    return {}",
    "second": "@server\nasync def a(request): pass\n\n@server\nasync def b(request): pass",
}


@rule("errors.8")
@pytest.mark.parametrize("kind", ["loader", "action"])
async def test_errors_8_functions_that_are_not_async_are_rejected(
    tmp_path: Path, kind: str
) -> None:
    (problem,) = problems_of(tmp_path, INVALID[kind])
    assert "is not async" in problem
    with pytest.raises(CompileFailed, match="is not async"):
        async with open_pages(tmp_path, INVALID[kind]):
            raise AssertionError("must not start")


@rule("errors.9")
async def test_errors_9_a_second_server_function_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(CompileFailed, match="second @server"):
        async with open_pages(tmp_path, INVALID["second"]):
            raise AssertionError("must not start")
