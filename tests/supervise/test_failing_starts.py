"""What the log says about a start that fails, and about a process that works too long."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest
import trio
import trio.testing

from fxtrio.server.supervise.shutdown_report import describe_running

from .support import ROOT, lines, serve, serve_project

RECORD = re.compile(r"^(\[\d\d\d\d-.*\] \[\d+\] \[[A-Z]+\] |    |$)", re.MULTILINE)


async def test_a_start_that_takes_too_long_names_the_setting(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(ROOT), "FX_TIMEOUTS__STARTUP": "0.3"}
    app = ("--app", "tests.supervise.apps:never_starts")
    async with serve_project(
        tmp_path, *app, workers=1, environment=environment, ready=False
    ) as running:
        assert await running.exit_code() == 1
        await running.wait_for(
            r"\[CRITICAL\] The application did not start within 0.3 s. Raise timeouts.startup, or"
        )


@pytest.mark.parametrize(
    ("module", "app", "words"),
    [
        ("tests.supervise.apps", "missing", "has no attribute 'missing'"),
        ("tests.supervise.broken", "app", "tests.supervise.broken:app: it cannot be imported."),
    ],
)
async def test_why_a_worker_did_not_start_is_a_record(module: str, app: str, words: str) -> None:
    async with serve(app, module=module, workers=2, ready=False) as running:
        assert await running.exit_code() == 1
        await running.wait_for(rf"\[CRITICAL\] .*{re.escape(words)}")
    for line in running.log.splitlines():
        assert RECORD.match(line), line


@pytest.mark.parametrize("workers", [1, 2])
async def test_why_nothing_is_served_is_json_where_the_log_is(workers: int) -> None:
    async with serve(
        module="tests.supervise.broken", workers=workers, access_log="json", ready=False
    ) as running:
        assert await running.exit_code() == 1
        await running.wait_for("no such table")
    (first, *_) = [line for line in lines(running.log) if "traceback" in line]
    assert first["message"] == "tests.supervise.broken:app: it cannot be imported."
    assert first["traceback"].endswith("LookupError: no such table")
    assert "importlib" not in first["traceback"]


@pytest.mark.parametrize("workers", [1, 2])
async def test_what_only_somebody_can_end_is_one_message_and_ends_the_server(workers: int) -> None:
    async with serve("waits_for_somebody", workers=workers, ready=False) as running:
        assert await running.exit_code() == 1
        await running.wait_for("Run 'fx db up'")
    why = "migrations: 0001_notes.sql has not been run.\nRun 'fx db up'.\n"
    assert running.log == why


@pytest.mark.parametrize("workers", [1, 2])
async def test_what_only_somebody_can_end_is_one_record_where_the_log_is_json(workers: int) -> None:
    async with serve(
        "waits_for_somebody", workers=workers, access_log="json", ready=False
    ) as running:
        assert await running.exit_code() == 1
        await running.wait_for("has not been run")
    (line,) = lines(running.log)
    assert (line["level"], line["message"][:15]) == ("CRITICAL", "migrations: 000")


async def test_a_worker_that_is_ended_because_another_cannot_start_logs_nothing(
    tmp_path: Path,
) -> None:
    environment = {"PIPE": str(tmp_path / "pipe")}
    async with serve(
        "waits_for_another", workers=2, environment=environment, ready=False
    ) as running:
        assert await running.exit_code() == 1
        await running.wait_for("has not been run")
    assert running.log == "migrations: 0001_notes.sql has not been run.\n"


async def test_workers_keep_serving_when_their_successors_do_not_start(tmp_path: Path) -> None:
    behind = tmp_path / "behind"
    environment = {"REFUSED_AFTER": str(behind)}
    async with serve("waits_for_somebody", workers=2, environment=environment) as running:
        behind.touch()
        running.kill(signal.SIGHUP)
        await running.wait_for(
            r"successor failed \(process \d+ could not start: migrations: 0001_notes.sql"
        )
        running.kill()
        assert await running.exit_code() == 0


async def test_an_address_that_cannot_be_used_is_json_where_the_log_is() -> None:
    async with serve(access_log="json", bind=("fd://x",), ready=False) as running:
        assert await running.exit_code() == 1
        await running.wait_for("it has no number")
    assert json.loads(running.log)["level"] == "CRITICAL"


async def test_a_certificate_that_breaks_later_is_one_record_and_the_old_worker_keeps_serving(
    tmp_path: Path,
) -> None:
    certificate = tmp_path / "certificate.pem"
    certificate.write_bytes((ROOT / "tests/http1/certificate.pem").read_bytes())
    async with serve(certfile=str(certificate), workers=2) as running:
        before = set(running.workers())
        certificate.write_text("broken")
        running.kill(signal.SIGHUP)
        await running.wait_for(r"\[CRITICAL\] TLS, with .*certificate.pem: ")
        await running.wait_for("its successor failed .* it keeps running")
        assert before <= set(running.workers())
        running.kill()
        assert await running.exit_code() == 0
    assert "Traceback" not in running.log


@pytest.mark.parametrize("workers", [1, 2])
async def test_what_still_works_at_the_end_is_named(workers: int) -> None:
    async with serve("never_ends", workers=workers, shutdown=1.0, graceful=0.5) as running:
        running.kill()
        assert await running.exit_code() == 1
        found = await running.wait_for(
            r"\[CRITICAL\] The process is killed while it is still working: (.*)", workers
        )
    assert re.search(
        r"thread 'sleep from .*', task '.*' at .*/tests/supervise/apps.py:\d+$", found[0]
    )


async def test_a_task_is_named_though_one_of_the_framework_is_below_it() -> None:
    async def work() -> None:
        async with trio.open_nursery() as inner:
            inner.start_soon(trio.sleep_forever)
            await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(work, name="above")
        nursery.start_soon(trio.sleep_forever)
        await trio.testing.wait_all_tasks_blocked()
        described = describe_running(trio.lowlevel.current_task())
        nursery.cancel_scope.cancel()
    assert re.search(rf", task 'above' at {re.escape(__file__)}:\d+$", described)


async def test_a_loop_that_is_blocked_at_the_end_is_named() -> None:
    async with serve("blocks_at_the_end", shutdown=1.0, graceful=0.5) as running:
        running.kill()
        assert await running.exit_code() == 1
        await running.wait_for("still working: the event loop at .*/tests/supervise/apps.py:")
