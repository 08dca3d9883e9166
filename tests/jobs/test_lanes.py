"""Which jobs are claimed, in which order, and how little is read for it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio

from fx.jobs import job
from fxtrio.db import Database
from fxtrio.jobs import lanes
from fxtrio.jobs.dialects import job_sql
from fxtrio.jobs.store import JobStore
from tests.db.engines import opened
from tests.jobs.running import rows, running

_OLD = {
    "sqlite": """
create table fx_jobs (
  id integer primary key autoincrement, name text not null, queue text not null,
  args text not null, state text not null default 'waiting', due real not null,
  attempts integer not null default 0, crashes integer not null default 0,
  key text, worker text, request_id text, made real not null, ended real, error text);
create index fx_jobs_due on fx_jobs (due, id) where state = 'waiting';
create index fx_jobs_ended on fx_jobs (ended) where state = 'done';
create table fx_workers (id text primary key, seen real not null);
create table fx_ticks (name text primary key, tick real not null);
""",
}
_OLD["postgresql"] = (
    _OLD["sqlite"]
    .replace("integer primary key autoincrement", "bigint generated always as identity primary key")
    .replace("real", "double precision")
)


@pytest.fixture(params=["file", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    kind = request.param
    if kind == "postgresql":
        kind = request.getfixturevalue("postgres_url")
    with trio.fail_after(120):
        async with opened(kind, tmp_path) as opened_database:
            yield opened_database


async def fill(database: Database, count: int, name: str, queue: str) -> None:
    numbers = (
        f"generate_series(1, {count}) as numbers(n)"
        if database.dialect == "postgresql"
        else f"(with recursive s(n) as (select 1 union all select n + 1 from s where n < {count})"
        " select n from s)"
    )
    await database.execute(
        "insert into fx_jobs (name, queue, args, due, made)"
        f" select $1, $2, '[[],{{}}]', n / 1000.0, 1 from {numbers}",
        name,
        queue,
    )


async def steps(database: Database, sql: str, *args: Any) -> list[str]:
    """Return what the engine does for a statement, one line for each table it reads."""
    if database.dialect == "sqlite":
        plan = await database.all(dict, f"explain query plan {sql}", *args)
        return [
            row["detail"] for row in plan if "fx_jobs" in row["detail"] or "one" in row["detail"]
        ]
    value = await database.value(f"explain (analyze, format json) {sql}", *args)
    found: list[str] = []
    waiting = list(json.loads(value) if isinstance(value, str) else value)
    waiting = [waiting[0]["Plan"]]
    while waiting:
        node = waiting.pop()
        waiting += node.get("Plans", [])
        if node.get("Relation Name") == "fx_jobs":
            read = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
            found.append(f"{node['Node Type']} of {read} rows")
    return found


@pytest.mark.parametrize("queues", [["fast"], []], ids=["one queue", "every queue"])
async def test_what_others_wait_for_is_not_read(database: Database, queues: list[str]) -> None:
    store = JobStore(database.reserve())
    await store.prepare()
    for name, queue in (("known", "mail"), ("unknown", "fast"), ("unknown", "mail")):
        await fill(store.database, 3000, name if queues else "unknown", queue)
    await fill(store.database, 9, "known", "fast")
    names = ["known", "other"]
    claim = lanes.claim(job_sql(store.database), queues=bool(queues), suspects=False)
    due = lanes.next_due(job_sql(store.database), queues=bool(queues))
    some = [queues] if queues else []
    plans = [
        *await steps(store.database, due, names, *some),
        *await steps(store.database, claim, "w", 1e9, names, 4, *some),
    ]

    assert len(plans) > 4
    for line in plans:
        assert line.startswith(("SEARCH", "SCAN fx_jobs USING INDEX", "SCAN later USING")) or (
            " of " in line and int(float(line.split()[-2])) <= 10
        ), plans
    left = [found.id for found in await store.claim("w", 1e9, names, queues, 99)]
    assert len(left) >= 5


async def test_the_most_urgent_come_first_and_then_the_oldest(database: Database) -> None:
    order: list[str] = []

    @job()
    async def plain(name: str) -> None:
        order.append(name)

    @job(priority=5, queue="other")
    async def urgent(name: str) -> None:
        order.append(name)

    async with running(database, plain, urgent, workers=0):
        await plain.enqueue("b")
        await plain.enqueue("last", priority=-1)
        await plain.enqueue("first", priority=9)
        await urgent.enqueue("a")
        await plain.enqueue("c")
        await plain.enqueue("not yet", priority=100, delay=3600)
        for wrong in (101, -101, 0.5):
            with pytest.raises(ValueError, match="-100 to 100"):
                await plain.enqueue("d", priority=wrong)  # type: ignore[arg-type]
    async with running(database, plain, urgent, workers=1) as runner:
        while runner.statistics().done < 5:  # noqa: ASYNC110  # no event tells
            await trio.sleep(0.01)

    assert order == ["first", "a", "b", "c", "last"]


async def test_tables_of_an_earlier_version_are_brought_up_to_date(database: Database) -> None:
    await database.run_script(_OLD[database.dialect])
    await database.execute(
        "insert into fx_jobs (name, queue, args, due, made)"
        " values ('tests.old', 'default', '[[],{}]', 1, 1)"
    )

    @job()
    async def work() -> None: ...

    async with trio.open_nursery() as nursery:
        for _ in range(3):  # processes that start at once
            nursery.start_soon(JobStore(database).prepare)
    async with running(database, work) as runner:
        runner.jobs["tests.old"] = work
        runner.wake()
        while runner.statistics().done < 1:  # noqa: ASYNC110  # no event tells
            await trio.sleep(0.01)

    assert await rows(database, "state, priority, misfits") == [
        {"state": "done", "priority": 0, "misfits": 0}
    ]
