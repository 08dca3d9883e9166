"""`/readyz` while the database is really away, and once it is back."""

from __future__ import annotations

from pathlib import Path

import attrs
import trio
from trio.testing import MockClock

from fx.testing import open_app
from fxtrio.serve.readiness import open_readiness
from tests.db.cluster import Cluster
from tests.db.engines import opened
from tests.trees import page, write_tree


async def test_a_postgresql_that_has_stopped_is_named_until_it_is_back(
    tmp_path: Path, own_cluster: Cluster
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page("")})
    async with open_app(tmp_path, database={"url": own_cluster.new_database()}) as client:

        async def until(status: int, word: str) -> None:
            """Ask until the answer is this: one is true for a second."""
            with trio.fail_after(60):
                while True:
                    answer = await client.get("/readyz")
                    if (answer.status, answer.json()["checks"]["database"]) == (status, word):
                        return
                    assert (await client.get("/livez")).status == 200
                    await trio.sleep(0.05)

        await until(200, "ok")
        await trio.to_thread.run_sync(own_cluster.stop)
        await until(503, "unreachable")
        await trio.to_thread.run_sync(own_cluster.start)
        await until(200, "ok")


async def test_a_missing_sqlite_file_is_named(tmp_path: Path, autojump_clock: MockClock) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page("")})
    async with open_app(tmp_path) as client, opened("file", tmp_path) as database:
        app = attrs.evolve(client.app.state.fx, database=database)
        async with open_readiness(app, None) as readiness:
            before = await readiness.look()
            for file in (tmp_path / "data").iterdir():
                file.unlink()
            await trio.sleep(2)
            after = await readiness.look()

    assert before == (True, {"database": "ok", "writes": "ok"})
    assert not after[0]
    assert after[1]["database"] == "unreachable"
