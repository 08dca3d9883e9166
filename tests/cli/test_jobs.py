"""`fx jobs`, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner, Result

from fx.jobs import job
from fxtrio.cli import main
from tests.db.engines import opened
from tests.jobs.running import running
from tests.trees import write_tree


@job(retries=0)
async def send(number: int) -> None:
    if number:
        raise KeyError("no such order")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    config = '{"database": {"url": "sqlite:///data/app.db"}}'
    write_tree(tmp_path, {"fx.config.json": config})

    async def run_two() -> None:
        with trio.fail_after(30):
            async with opened("file", tmp_path) as database, running(database, send) as runner:
                await send.enqueue(0)
                await send.enqueue(1)
                await send.enqueue(2, delay=1000)
                while runner.statistics().failed + runner.statistics().done < 2:
                    await trio.lowlevel.checkpoint()

    trio.run(run_two)
    return tmp_path


def run(root: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["jobs", *words, "--root", str(root)])


def states(root: Path) -> list[str]:
    return [row["state"] for row in json.loads(run(root, "list", "--json").output)]


def test_jobs_are_listed_inspected_retried_and_discarded(root: Path) -> None:
    assert states(root) == ["waiting", "failed", "done"]
    assert "KeyError: 'no such order'" in run(root, "show", "2").output
    assert json.loads(run(root, "show", "2", "--json").output)["attempts"] == 1
    assert len(run(root, "list", "--state", "failed").output.splitlines()) == 1
    counted = json.loads(run(root, "stats", "--json").output)
    assert {row["state"]: row["jobs"] for row in counted} == {"done": 1, "failed": 1, "waiting": 1}

    retried = run(root, "retry", "1", "2")
    assert retried.exit_code == 1 and "The job 1 has not failed" in retried.output
    assert "1 job waiting again" in retried.output
    assert run(root, "discard", "3").exit_code == 0
    assert states(root) == ["waiting", "done"]
    assert run(root, "show", "3").exit_code == 1


def test_queues_are_paused_and_jobs_chosen_by_what_they_are(root: Path) -> None:
    assert "'default' is paused" in run(root, "pause", "default").output
    assert "already" in run(root, "pause", "default").output
    assert "(paused)" in run(root, "stats").output
    assert "running again" in run(root, "resume", "default").output
    assert "not paused" in run(root, "resume", "default").output
    assert run(root, "retry").exit_code == 2
    assert run(root, "retry", "2", "--queue", "default").exit_code == 2
    assert "1 job waiting again" in run(root, "retry", "--queue", "default").output
    assert (
        "2 jobs forgotten"
        in run(root, "discard", "--queue", "default", "--state", "waiting").output
    )
    assert states(root) == ["done"]
