"""A crash in a simulation does what SIGKILL does to a process: to the database, and to a client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
import trio

from fx.testing import ConnectionLost, World
from fxtrio.simulation.faults import NO_FAULTS
from fxtrio.simulation.runs import Options, Runner
from fxtrio.simulation.simulate import prepared_app
from tests.supervise.support import Running, serve_project
from tests.trees import write_tree

PROJECT = {
    "pages/index.md": "# A crash\n",
    "pages/api/add.py": """
        import trio
        from fx.db import db
        from state import BEGUN


        async def get(request):
            value = int(request.query_params["value"])
            async with db.transaction():
                await db.execute("insert into added values ($1)", value)
                BEGUN.add(value)
                await trio.sleep(float(request.query_params.get("seconds", 0)))
            return {"ok": True}
        """,
    "pages/api/added.py": """
        from fx.db import db


        async def get(request):
            rows = await db.all(dict, "select value from added order by value")
            return {"added": [row["value"] for row in rows]}
        """,
    "pages/api/count.py": """
        import trio
        from starlette.responses import StreamingResponse
        from state import BEGUN


        async def numbers():
            while 3 not in BEGUN:
                await trio.sleep(0.01)
            yield "begun;"
            await trio.sleep(3600)


        async def get(request):
            return StreamingResponse(numbers())
        """,
    "state.py": "BEGUN = set()\n",
    "fx.config.json": '{"database": {"url": "sqlite:///data/app.db", "migrate": "run"}}',
    "migrations/0001_added.sql": "create table added (value integer not null);",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_tree(tmp_path, PROJECT)
    build = [sys.executable, "-m", "fxtrio", "build"]
    env = {**os.environ, "FX_COMPRESSION": "off"}
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True, timeout=300, env=env)
    return tmp_path


Found = dict[str, object]


async def meet_a_crash(
    get: Callable[[str], Awaitable[object]], read_on: Callable[[], Awaitable[str]]
) -> Found:
    """Add two values, and be in the middle of a third and of a stream when the process ends.

    ``read_on`` reads a part of the stream, lets the process be killed, and reads on.
    """
    found: Found = {}
    for value in (1, 2):
        assert await get(f"/api/add?value={value}") == {"ok": True}

    async def add_slowly() -> None:
        found["slow"] = await get("/api/add?value=3&seconds=60")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(add_slowly)
        found["stream"] = await read_on()
    return found


async def get_from(server: Running, path: str) -> object:
    """Return the JSON at a path; "lost" where the connection ends without an answer."""
    async with await server.connect() as client:
        await client.send(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        with trio.fail_after(60):
            if not await client.more():
                return "lost"
            return json.loads((await client.reply()).body)


async def meet_a_real_one(root: Path) -> Found:
    """Kill a server, and look what another one finds in the database."""
    async with serve_project(root, workers=1, environment={}) as server:

        async def read_on() -> str:
            async with await server.connect() as client:
                await client.send(b"GET /api/count HTTP/1.1\r\nHost: a\r\n\r\n")
                with trio.fail_after(60):
                    while b"begun;" not in client.buffer:
                        await client.more()
                server.kill(signal.SIGKILL)
                rest = await client.read_all()
            return "lost" if b"\r\n0\r\n\r\n" not in rest else "ended"

        found = await meet_a_crash(partial(get_from, server), read_on)
    async with serve_project(root, workers=1, environment={}) as server:
        return {**found, "added": await get_from(server, "/api/added")}


async def meet_a_simulated_one(world: World) -> Found:
    async def get(path: str) -> object:
        try:
            return (await world.client().get(path)).json()
        except ConnectionResetError:
            return "lost"

    async def read_on() -> str:
        async with world.client().stream("GET", "/api/count") as response:
            parts = aiter(response)
            text = b""
            while b"begun;" not in text:
                text += await anext(parts)
            await world.kill()
            try:
                async for _ in parts:
                    pass
            except ConnectionLost:
                return "lost"
            return "ended"

    return {**await meet_a_crash(get, read_on), "added": await get("/api/added")}


@pytest.mark.node
def test_a_crash_in_a_simulation_is_that_of_a_process_that_is_killed(project: Path) -> None:
    real = trio.run(meet_a_real_one, project)
    assert real == {"slow": "lost", "stream": "lost", "added": {"added": [1, 2]}}
    simulated: list[Found] = []

    async def scenario(world: World) -> None:
        simulated.append(await meet_a_simulated_one(world))

    run = Runner(scenario, prepared_app(project, {}), Options(faults=NO_FAULTS)).run(0)
    assert run.error is None
    assert simulated == [real]
