"""Defects of durable jobs, of schedules and of middleware: reported once, with whose they are."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from fx.testing import Client, open_app
from tests.trees import page, write_tree

CANARY = "canary-90c2"
MODULE = """
    from starlette.requests import Request

    REPORTS = []

    async def keep(report):
        REPORTS.append(report)

    class User:
        id = 7

    async def sign_in(request):
        request.state.user = User()

    class Failing:
        def __init__(self, app):
            self.app = app

        async def __call__(self, scope, receive, send):
            if scope["path"] == "/before":
                raise RuntimeError("before")
            if scope["path"] == "/book/after":
                async def drop(message):
                    pass

                await self.app(scope, receive, drop)
                raise RuntimeError("after")
            await self.app(scope, receive, send)
    """
PAGE = """
    from fx.jobs import every, job
    from fx.tasks import enqueue

    @job(retries=1, backoff=1)
    async def send(word):
        raise RuntimeError("in a job")

    @job
    async def pass_on(word):
        await send.enqueue(word)

    @every("* * * * *", retries=0)
    async def tick():
        raise RuntimeError("in a schedule")

    @server
    async def load(request):
        return {}

    @action
    async def save(request):
        word = (await request.json())["word"]
        await send.enqueue(word)
        return {}

    @action
    async def save_later(request):
        enqueue(pass_on.enqueue, (await request.json())["word"])
        return {}
    """


@asynccontextmanager
async def opened(root: Path, **settings: Any) -> AsyncIterator[Client]:
    module = f"reports_{root.name}"
    write_tree(root, {f"{module}.py": MODULE, "pages/book/[id].fxl": page(PAGE)})
    settings["observability"] = {"errors": f"{module}:keep"}
    settings["middleware"] = [f"{module}:Failing"]
    settings["route_middleware"] = {"pages": [f"{module}:sign_in"]}
    async with open_app(root, database={"url": "sqlite:///app.db"}, **settings) as client:
        yield client


def reports(client: Client, word: str) -> list[Any]:
    found: list[Any] = sys.modules[f"reports_{client.app._root.name}"].REPORTS
    return [one for one in found if str(one.error) == word]


@pytest.mark.parametrize("name", ["save", "save_later"])
async def test_a_durable_job_is_reported_once_as_work_of_whoever_enqueued_it(
    tmp_path: Path, autojump_clock: MockClock, name: str
) -> None:
    async with opened(tmp_path) as client:
        headers = {"cookie": f"session={CANARY}"}
        url = f"/api/__actions/book/{CANARY}/{name}?{CANARY}"
        answer = await client.post(url, json={"word": CANARY}, headers=headers)
        await trio.sleep(30)

        [report] = reports(client, "in a job")  # two attempts, one failure
        assert report.request_id == answer.headers["x-request-id"]
        assert (report.method, report.route, report.user_id) == ("POST", "/book/[id]", "7")
        assert report.place.startswith("pages/book/[id].fxl:")
        assert report.place.endswith(" send")
        assert CANARY not in f"{report.place}{report.route}{report.message}{report.user_id}"


async def test_each_run_of_a_schedule_that_fails_is_reported_once(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with opened(tmp_path) as client:
        await trio.sleep(121)

        found = reports(client, "in a schedule")
        assert len(found) in (2, 3)  # as many minutes as begin within 121 seconds
        assert len({report.message for report in found}) == len(found)
        for report in found:
            assert report.place.startswith("pages/book/[id].fxl:")
            assert report.place.endswith(" tick")
            assert (report.method, report.route, report.user_id) == ("", "", None)
            assert report.request_id is None


async def test_middleware_that_fails_is_reported_once_with_its_request(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with opened(tmp_path) as client:
        assert (await client.get("/before")).status == 500
        assert (await client.get("/book/after")).status == 500
        await wait_all_tasks_blocked()

        [before] = reports(client, "before")
        [after] = reports(client, "after")
        for report in (before, after):
            assert report.place.startswith(f"reports_{client.app._root.name}.py:")
            assert report.place.endswith(" __call__")
            assert report.method == "GET"
        assert (before.route, before.user_id) == ("", None)
        assert (after.route, after.user_id) == ("/book/[id]", "7")
        assert after.request_id is not None
