"""Durable jobs of an app."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from fx.db import db
from fx.testing import open_app
from tests.trees import page, write_tree

PAGE = """
    from fx.db import db
    from fx.jobs import job
    from reports import count

    @job(atomic=True)
    async def remind(text):
        await db.execute("insert into notes values ($1)", text)

    @action(transaction=True)
    async def ask(request):
        body = await request.json()
        await remind.enqueue(body["text"], delay=60)
        if body["text"] == "no":
            raise ActionError("No.")
        return {}
    """
REPORTS = """
    from fx.db import db
    from fx.jobs import every

    @every("0 3 * * *", tz="Europe/Berlin")
    async def count():
        await db.execute("insert into notes values ('nightly')")
    """


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "pages/index.fxl": page(PAGE),
        "reports.py": REPORTS,
        "fx.config.json": '{"database": {"url": "sqlite:///data/app.db"}}',
        "migrations/0001_notes.sql": "create table notes (text text);",
    }
    return write_tree(tmp_path, files)


async def test_jobs_of_pages_and_modules_run_on_the_clock_of_the_test(
    root: Path, autojump_clock: MockClock
) -> None:
    async with open_app(root) as client:
        assert (await client.action("/", "ask", {"text": "yes"})).ok
        assert not (await client.action("/", "ask", {"text": "no"})).ok
        await trio.sleep(59)
        assert await db.value("select count(*) from notes where text <> 'nightly'") == 0
        await trio.sleep(2)
        assert await db.value("select count(*) from notes where text = 'yes'") == 1
        await trio.sleep(3 * 86400)
        assert await db.value("select count(*) from notes where text = 'nightly'") == 3
        assert await db.value("select count(*) from notes") == 4


async def test_without_workers_they_wait(root: Path, autojump_clock: MockClock) -> None:
    async with open_app(root, jobs__workers=0) as client:
        await client.action("/", "ask", {"text": "yes"})
        await trio.sleep(120)
        assert await db.value("select state from fx_jobs") == "waiting"


@pytest.mark.parametrize(
    ("database", "why"),
    [
        ('{"url": "sqlite:///data/app.db"}', "started without durable jobs, .*Import its module"),
        ("{}", "Set 'database.url'"),
    ],
    ids=["late", "no database"],
)
async def test_what_keeps_a_job_from_being_enqueued_is_reported(
    tmp_path: Path, database: str, why: str
) -> None:
    files = {
        "pages/index.fxl": page("""
            from fx.jobs import JobsNotRunning

            @action
            async def ask(request):
                from late_jobs import send

                try:
                    await send.enqueue()
                except JobsNotRunning as error:
                    return {"said": str(error)}
            """),
        "late_jobs.py": "from fx.jobs import job\n\n\n@job()\nasync def send(): ...\n",
        "fx.config.json": f'{{"database": {database}}}',
    }
    async with open_app(write_tree(tmp_path, files)) as client:
        answer = await client.action("/", "ask", {})
        assert re.search(why, answer.data["said"])
