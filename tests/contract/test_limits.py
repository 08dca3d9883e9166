"""Limits."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from fx.tasks import TaskQueueFull
from tests.contract.projects import open_pages, problems_of
from tests.contract.rules import rule

ACTION = """
@action
async def act_{n}(request):
    return {{"n": {n}}}
"""
LOADER = """
@server
async def load_{n}(request):
    return {{}}
"""


@rule("limits.1")
async def test_limits_1_one_loader_and_any_number_of_actions(tmp_path: Path) -> None:
    text = LOADER.format(n=0) + "".join(ACTION.format(n=n) for n in range(60))
    async with open_pages(tmp_path, text) as client:
        found = [(await client.action("/", f"act_{n}")).data["n"] for n in range(60)]
    assert found == list(range(60))
    problems = problems_of(tmp_path, "".join(LOADER.format(n=n) for n in range(3)))
    assert [problem.split()[1] for problem in problems] == ["'load_1'", "'load_2'"]


@rule("limits.2")
@pytest.mark.parametrize(("settings", "capacity"), [({}, 1000), ({"capacity": 3}, 3)])
async def test_limits_2_the_queue_takes_1000_waiting_jobs_by_default(
    tmp_path: Path, settings: dict[str, int], capacity: int
) -> None:
    release = trio.Event()
    async with open_pages(tmp_path, "", tasks=settings) as client:
        queue = client.app.state.fx_tasks
        for _ in range(capacity):
            queue.enqueue(release.wait)
        with pytest.raises(TaskQueueFull) as full:
            queue.enqueue(release.wait)
        release.set()
    assert full.value.capacity == capacity


VALUES = """
    class Unknown:
        pass

    VALUE = {{"rows": [{{"ok": None}}, {{"price": {value}}}]}}

    @server
    async def load(request):
        if "error" in request.query_params:
            raise LoaderError("no", 409, VALUE)
        return VALUE

    @action
    async def act(request):
        return VALUE

    @action
    async def refuse(request):
        raise ActionError("no", 409, VALUE)
"""
every_value = pytest.mark.parametrize(
    "value", ["Unknown()", "float('nan')", "float('inf')", "print", "{(1, 2): 3}"]
)


@rule("limits.4")
@every_value
@pytest.mark.parametrize("path", ["/", "/?error"])
@pytest.mark.parametrize("headers", [{}, {"x-fx-navigation": "1"}])
async def test_limits_4_what_a_loader_gives_must_be_json(
    tmp_path: Path,
    value: str,
    path: str,
    headers: dict[str, str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_pages(tmp_path, VALUES.format(value=value)) as client:
        response = await client.get(path, headers=headers)
    assert response.status == 500
    assert "rows[1].price" in caplog.text


@rule("limits.4")
@every_value
@pytest.mark.parametrize("name", ["act", "refuse"])
async def test_limits_4_what_an_action_gives_must_be_json(
    tmp_path: Path, value: str, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_pages(tmp_path, VALUES.format(value=value)) as client:
        result = await client.action("/", name)
    assert (result.status, result.ok) == (500, False)
    assert "rows[1].price" in caplog.text
