"""Processes that are killed in the middle of their jobs; in full by `tests.jobs.endurance`."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from tests.db.cluster import Cluster
from tests.jobs.endurance import kill_a_scheduler, kill_processes, lose_server
from tests.jobs.serving import build_sleepy, restart_server
from tests.short import amount

JOBS = amount(60, long=400)
"""Of each kind."""

KILLS = amount(2, long=8)


@pytest.fixture(params=["file", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database that other processes can open."""
    if request.param == "file":
        return f"sqlite:///{tmp_path}/data/app.db"
    found: str = request.getfixturevalue("postgres_url")
    return found


async def test_no_job_is_lost_and_atomic_ones_are_exact(url: str) -> None:
    facts = await kill_processes(url, JOBS, KILLS, seed=3)

    assert facts["crashes"] > 0


async def test_a_database_that_goes_away_costs_no_job(own_cluster: Cluster) -> None:
    facts = await lose_server(own_cluster, JOBS // 2, away=1.0)

    assert facts["left then"] > JOBS // 4


async def test_each_time_of_a_schedule_comes_once_though_a_process_dies(url: str) -> None:
    await kill_a_scheduler(url, seconds=5)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_sleepy(tmp_path_factory.mktemp("sleepy"))


@pytest.mark.node
@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGHUP, marks=pytest.mark.nightly), signal.SIGKILL]
)
async def test_what_waits_runs_though_the_server_process_goes(
    built: Path, tmp_path: Path, number: int
) -> None:
    root = Path(shutil.copytree(built, tmp_path / "project"))
    await restart_server(root, jobs=100, seconds=0.3, number=number)
