"""`/livez` and `/readyz`: whether the process lives, and whether its parts work."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from fx.db import db
from fx.testing import open_app
from fxtrio.db import Database
from fxtrio.jobs import JobRunner
from fxtrio.serve.readiness import AppReadiness, PartStatus
from tests.trees import PAGE, write_tree

JOBS = """
    from fx.jobs import job

    @job()
    async def send():
        pass
    """
CONFIG = '{"database": {"url": "sqlite:///data/app.db"}, "observability": %s}'


def make_root(folder: Path, observability: str = "{}") -> Path:
    name = f"work_{folder.name}"  # a module is imported once, whatever its folder
    files = {
        "pages/index.fxl": f"import {name}\n{PAGE}",
        f"{name}.py": JOBS,
        "fx.config.json": CONFIG % observability,
    }
    return write_tree(folder, files)


async def test_it_names_what_does_not_work(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_app(make_root(tmp_path)) as client:
        good = await client.get("/readyz")
        assert (good.status, good.json()) == (
            200,
            {"ok": True, "checks": {"database": "ok", "writes": "ok", "jobs": "ok"}},
        )

        async def fail(*_: object) -> None:
            raise OSError("password=secret")

        monkeypatch.setattr(Database, "value", fail)
        monkeypatch.setattr(JobRunner, "beat_age", lambda runner: 16.0)
        assert (await client.get("/readyz")).status == 200  # it was asked a moment ago
        await trio.sleep(16)
        bad = await client.get("/readyz")
        assert (bad.status, bad.json()) == (
            503,
            {
                "ok": False,
                "checks": {"database": "unreachable", "writes": "ok", "jobs": "stalled"},
            },
        )
        assert bad.headers["cache-control"] == "no-store"
        for url in ("/livez", "/healthz"):
            assert (await client.get(url)).status == 200


async def test_a_part_that_does_not_answer_holds_nobody_back(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_app(make_root(tmp_path)) as client:

        async def hang(*_: object) -> None:
            with trio.CancelScope(shield=True):
                await trio.sleep(7)

        monkeypatch.setattr(Database, "value", hang)
        began = trio.current_time()
        async with trio.open_nursery() as nursery:
            for _ in range(20):
                nursery.start_soon(client.get, "/readyz")
        assert trio.current_time() - began == 2
        found = await client.get("/readyz")
        assert found.json()["checks"] == {"database": "no answer", "writes": "ok", "jobs": "ok"}


async def test_an_optional_dependency_is_only_listed(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_app(make_root(tmp_path, '{"readiness": ["database"]}')) as client:
        monkeypatch.setattr(JobRunner, "beat_age", lambda runner: 16.0)
        await trio.sleep(16)
        found = await client.get("/readyz")
        assert (found.status, found.json()["checks"]["jobs"]) == (200, "stalled")


@pytest.mark.parametrize("needed", [True, False])
async def test_a_full_disk_is_reported_once_it_has_rejected_something(
    tmp_path: Path, autojump_clock: MockClock, needed: bool
) -> None:
    observability = "{}" if needed else '{"readiness": ["database", "jobs"]}'
    async with open_app(make_root(tmp_path, observability)) as client:
        await db.execute("create table t (b blob)")
        await db.execute("pragma max_page_count = 1")
        for words, expected in (("refused", 503 if needed else 200), ("ok", 200)):
            with pytest.raises(sqlite3.OperationalError, match="full"):
                await db.execute("insert into t values (zeroblob(1000000))")
            if words == "ok":
                await db.execute("pragma max_page_count = 100000")
            await trio.sleep(2)
            found = await client.get("/readyz")
            assert found.status == expected
            assert found.json()["checks"] == {"database": "ok", "writes": words, "jobs": "ok"}


async def test_all_who_ask_share_one_look(autojump_clock: MockClock) -> None:
    looks = 0

    async def check() -> PartStatus:
        nonlocal looks
        looks += 1
        await trio.sleep(0.5)
        return "ok"

    async with trio.open_nursery() as nursery:
        readiness = AppReadiness({"database": check}, ("database",), nursery)
        async with trio.open_nursery() as asking:
            for _ in range(100):
                asking.start_soon(readiness.look)
        assert looks == 1
        assert await readiness.look() == (True, {"database": "ok"})
        assert looks == 1
        await trio.sleep(1)
        await readiness.look()
        assert looks == 2


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
async def test_probes_need_no_base_url_and_may_have_it(tmp_path: Path, path: str) -> None:
    write_tree(tmp_path, {"pages/index.fxl": PAGE})
    async with open_app(tmp_path, base_url="/shop") as client:
        for url in (path, f"/shop{path}"):
            assert (await client.get(url)).status == 200, url
        assert (await client.get(f"/other{path}")).status == 404
