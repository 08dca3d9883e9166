"""Each check at the end of a seed fails for an app that breaks what it looks for."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from fx.testing import World
from fxtrio.db.engine import Result
from fxtrio.db.sqlite.connection import SqliteConnection
from fxtrio.send_budget.budget import process_unsent
from fxtrio.simulation.checks import InvariantBroken
from fxtrio.simulation.faults import NO_FAULTS
from fxtrio.simulation.runs import Options, Runner
from fxtrio.simulation.simulate import prepared_app
from tests.simulation import lasting

CARELESS = Path(__file__).parent / "apps" / "careless"


@pytest.fixture(autouse=True)
def _tidied() -> Iterator[None]:
    """Undo what the app does to the whole process."""
    yield
    while lasting.OBJECTS:
        lasting.OBJECTS.pop().close()
    process_unsent.used = 0
    logging.getLogger("fx.tasks").disabled = logging.getLogger("fx.jobs").disabled = False


@pytest.mark.parametrize(
    ("action", "found"),
    [
        ("leave_a_file", "index.fxl is left open after the shutdown"),
        ("leave_a_connection", "the process has left a connection to its database open"),
        ("leave_a_subscription", "Subscriptions are left after the shutdown"),
        ("leave_bytes_of_a_body", "counts 5 bytes of bodies after its end"),
        ("leave_a_stream", "counts 1 open streams after its end"),
        ("leave_unsent_bytes", "5 bytes of messages count as unsent after the shutdown"),
        ("send_two_statuses", r"was answered with several statuses: \[200, 500\]"),
        ("send_no_end", "was answered with a response that has no end"),
        ("hide_a_job_that_fails", "1 jobs failed or were cancelled, and 0 of them are in the log"),
        (
            "exceed_the_budget_of_bodies",
            r"the process: the bytes of bodies are \d+, and may be \d+",
        ),
        ("exceed_the_number_of_streams", "the open streams are 1, and may be 0 at most"),
        ("exceed_an_outbox", "the messages for a member of 'news' are 3, and may be 2 at most"),
        ("lose_a_durable_job", r"Job work\.mail \(1\) was accepted, and is not in the database"),
        ("hide_a_durable_job_that_fails", r"work\.break_down \(1\) has failed, and is not in the"),
        ("exceed_the_number_of_jobs", r"the jobs that wait are \d+, and may be 1 at most"),
        ("undo_and_succeed", "was answered with 200, and its transaction is not in the database"),
    ],
)
def test_a_check_fails_for_an_app_that_breaks_what_it_looks_for(action: str, found: str) -> None:
    require_found(action, found)


def test_a_transaction_that_failed_and_is_committed_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = SqliteConnection.run

    async def run_wrongly(self: SqliteConnection, sql: str, args: Sequence[Any] = ()) -> Result:
        return await run(self, "commit" if sql == "rollback" else sql, args)

    monkeypatch.setattr(SqliteConnection, "run", run_wrongly)
    require_found("fail", "was answered with 409, and its transaction is in the database")


def test_a_durable_job_that_nobody_runs_is_found() -> None:
    require_found("run_no_durable_job", r"has waited for 7\d s, while a process had a free", 70)


def require_found(action: str, found: str, seconds: float = 0) -> None:
    """Run one action of the app, and wait. The simulation fails with ``found``."""

    async def act(world: World) -> None:
        client = world.client()
        async with world.visitors() as visitors:
            content = b'{"who": "Ada"}'
            visitors.start_soon(
                partial(client.post, content=content), client.action_url("/", action)
            )
        await trio.sleep(seconds)

    run = Runner(act, prepared_app(CARELESS, {}), Options(faults=NO_FAULTS)).run(0)
    with pytest.raises(InvariantBroken, match=found):
        raise run.error or AssertionError("The checks have found nothing.")
