"""What a process is in a simulation: its tasks end with it, and can be slow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio

from fx.testing import ConnectionLost, Faults, World
from fxtrio.db.engine import Result
from fxtrio.db.sqlite.connection import SqliteConnection
from fxtrio.simulation.faults import NO_FAULTS
from fxtrio.simulation.runs import Options, Run, Runner
from fxtrio.simulation.simulate import prepared_app
from tests.trees import page, write_tree

APPS = Path(__file__).parent / "apps"
HUB, ORDERS = APPS / "hub", APPS / "orders"


def run(path: Path, faults: Faults = NO_FAULTS, *, killed: bool = False, seed: int = 0) -> Run:
    """Let a handler write a file after five seconds, in which its process is killed or not."""

    async def note(world: World) -> None:
        async with world.visitors() as visitors:
            body = {"path": str(path)}
            visitors.start_soon(world.client().action, "/", "note_later", body)
            await trio.sleep(1)
            if killed:
                await world.kill()
        await trio.sleep(60)

    found = Runner(note, prepared_app(HUB, {}), Options(faults=faults)).run(seed, traced=True)
    assert found.error is None
    return found


def test_a_handler_of_a_killed_process_makes_no_more_steps(tmp_path: Path) -> None:
    path = tmp_path / "noted"
    run(path, killed=True)
    assert not path.exists()
    run(path)
    assert path.exists()


def test_a_trace_says_in_which_process_a_handler_is(tmp_path: Path) -> None:
    trace = run(tmp_path / "noted").trace
    assert trace is not None
    assert any("note_later (1) in the process: " in line for line in trace.lines())


def test_each_run_has_new_modules_in_folders_without_an_init(tmp_path: Path) -> None:
    action = "@action\nasync def buy(request):\n    HELD.append(1)\n    return {}\n"
    files = {
        "actions/held.py": f"from fx.runtime import action\n\nHELD = []\n\n{action}",
        "pages/index.fxl": page(
            """
            from actions import held

            @server
            async def load(request):
                return {"held": len(held.HELD)}
            """
        ),
    }
    held: list[int] = []

    async def buy(world: World) -> None:
        client = world.client()
        for _ in range(2):
            held.append((await client.load_page("/")).data["held"])
            await client.request("POST", "/api/__actions/held.buy")

    runner = Runner(buy, prepared_app(write_tree(tmp_path, files), {}), Options(faults=NO_FAULTS))
    for seed in range(2):
        assert runner.run(seed, traced=False).error is None

    assert held == [0, 1, 0, 1]


def test_a_handler_can_be_slow_at_a_checkpoint(tmp_path: Path) -> None:
    slow = Faults(
        leave=0, slow_reader=0, slow_call=0, slow_task=1, kill=0, shutdown=0, jump=0, store=0
    )
    runs = [run(tmp_path / "noted", slow, seed=seed) for seed in range(20)]
    assert any("note_later (1) waited for" in one.text for found in runs for one in found.faults)


async def publish_some(world: World) -> None:
    async with world.visitors() as visitors:
        for _ in range(3):
            visitors.start_soon(world.client().action, "/topic", "publish")


def test_a_process_can_be_cut_off_the_store_that_it_reached_from_the_start() -> None:
    faults = attrs.evolve(NO_FAULTS, store=1)
    runner = Runner(publish_some, prepared_app(HUB, {}), Options(faults=faults, processes=2))
    runs = [runner.run(seed) for seed in range(10)]
    assert [run.error for run in runs] == [None] * 10
    assert any("cut off the store" in one.text for found in runs for one in found.faults)


async def read_until_killed(world: World) -> None:
    client = world.client()
    async with client.stream_action("/", "count") as values:
        assert await anext(aiter(values)) == {"value": 0}
        await world.kill()  # which interrupts nothing of the client's
        with pytest.raises(ConnectionLost):
            await anext(aiter(values))
    async with client.stream_action("/", "count") as values:
        assert await anext(aiter(values)) == {"value": 0}
        await world.kill()  # a client that does not read on does not learn of it


def test_a_client_learns_of_a_killed_process_when_it_reads_on() -> None:
    found = Runner(read_until_killed, prepared_app(HUB, {}), Options(faults=NO_FAULTS)).run(0)
    if found.error is not None:
        raise found.error
    assert found.log == ()  # what a killed process would log when its tasks end


def test_an_idle_process_makes_about_one_statement_a_second_for_its_jobs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    statements, idle = list[str](), list[str]()
    of_connection = SqliteConnection.run

    async def run_counted(self: SqliteConnection, sql: str, args: Sequence[Any] = ()) -> Result:
        statements.append(sql)
        return await of_connection(self, sql, args)

    async def rest(world: World) -> None:
        await trio.sleep(10)
        statements.clear()
        await trio.sleep(60)
        idle.extend(statements)

    monkeypatch.setattr(SqliteConnection, "run", run_counted)
    found = Runner(rest, prepared_app(ORDERS, {}), Options(faults=NO_FAULTS, processes=2)).run(0)
    assert found.error is None
    per_second = len(idle) / (2 * 60)
    assert per_second < 1.5  # a heartbeat and a look every two seconds, and what is due every five
