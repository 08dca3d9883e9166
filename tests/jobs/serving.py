"""A project whose jobs run in `fx serve`, and what a restart of its process does to them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import trio

from tests.db.engines import opened
from tests.supervise.support import serve_project
from tests.trees import page, write_tree

SLEEPY = """
    import os

    import trio
    from fx.db import db
    from fx.jobs import job


    @job(retries=0)
    async def sleep(number, seconds):
        await trio.sleep(seconds)
        await db.execute("insert into runs values ($1, $2)", number, os.getpid())
    """
FILL = """
    from fx.db import db
    from sleepy import sleep


    async def get(request):
        count = int(request.query_params["count"])
        async with db.transaction():
            for number in range(count):
                await sleep.enqueue(number, float(request.query_params["seconds"]))
        return {"count": count}
    """
FILES = {
    "pages/index.fxl": page("from sleepy import sleep\n"),
    "pages/api/fill.py": FILL,
    "sleepy.py": SLEEPY,
    "fx.config.json": '{"database": {"url": "sqlite:///data/app.db", "migrate": "run"}}',
    "migrations/0001_runs.sql": "create table runs (number integer not null, pid integer);",
}
LEFT = "select count(*) from fx_jobs where state in ('waiting', 'running')"


def build_sleepy(root: Path) -> Path:
    """Write the project, and build it."""
    write_tree(root, FILES)
    build = [sys.executable, "-m", "fxtrio", "build"]
    env = {**os.environ, "FX_COMPRESSION": "off"}  # which takes as long as all the rest
    subprocess.run(build, cwd=root, check=True, capture_output=True, timeout=300, env=env)
    return root


async def restart_server(root: Path, jobs: int, seconds: float, number: int) -> dict[str, Any]:
    """Send a signal to the process of `fx serve` that has ``jobs`` of ``seconds`` each to do.

    ``root`` is of `build_sleepy`, and its database has seen no jobs. SIGHUP goes to the
    supervisor, which starts another one; SIGKILL to the process itself.
    """
    async with serve_project(root, workers=2, environment={}) as server:
        assert (await server.get(f"/api/fill?count={jobs}&seconds={seconds}")).status == 200
        async with opened("file", root) as database:
            while await database.value("select count(*) from runs") < jobs // 20:  # noqa: ASYNC110
                await trio.sleep(0.02)
            left = await database.value(LEFT)
            before = server.workers()
            if number == signal.SIGHUP:
                server.kill(number)
            else:
                os.kill(before[0], number)
            replaced = set(before) if number == signal.SIGHUP else {before[0]}
            await server.wait_until(lambda: not replaced & set(server.workers()))
            while await database.value(LEFT):  # noqa: ASYNC110  # no event tells
                await trio.sleep(0.1)
            runs = await database.all(
                dict, "select number, count(*) as n from runs group by number"
            )
            crashes = await database.value("select sum(crashes) from fx_jobs")
            states = await database.all(dict, "select distinct state from fx_jobs")
            pids = await database.value("select count(distinct pid) from runs")
        server.kill()
        assert await server.exit_code() == 0
    assert left > jobs // 2
    assert states == [{"state": "done"}]
    assert {row["number"] for row in runs} == set(range(jobs))
    twice = sum(row["n"] for row in runs) - jobs
    assert twice <= crashes
    if number == signal.SIGHUP:
        assert crashes == 0
    return {
        "jobs": jobs,
        "left then": left,
        "processes": pids,
        "lost": 0,
        "twice": twice,
        "crashes": crashes,
    }
