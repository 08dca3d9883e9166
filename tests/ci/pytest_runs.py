"""How sessions of nox run pytest: side by side, with files in memory, and failures once more."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import nox
from nox.command import CommandFailed

from tests.ci import OUTCOMES, name_not_run

ROOT = Path(__file__).parents[2]

MEMORY, ROOM = Path("/dev/shm"), 2 << 30
"""A folder in memory, and what must be free there for files of tests (bytes; a tenth is used)."""

PARALLEL = ("--workers", "auto")
"""Test files run beside each other: `tests/conftest.py` says how many, and in which order.

Tests of one file share servers and builds, so they stay together.
"""

MOST_AGAIN = 16
"""Tests that run once more when they have failed (count)."""

PASSED = "passed"
"""The file in the cache of a run that ended with status 0."""

TESTS_FAILED = 1
"""The status of pytest when tests failed, and nothing else did."""

AGAIN = "--again"
"""The argument of a session of tests on one Python that runs only what failed before."""

MEASURED = ("--cov", "--cov-report=", "--cov-fail-under=0")
"""Arguments of pytest for a session that reports the coverage itself."""

SHORT = {"FXTRIO_TESTS": "short"}
LONG = {"FXTRIO_TESTS": "long"}
"""How many examples and cases the tests try: `tests/short.py`."""

NO_FORKS = {"FXTRIO_TESTS_FORK": "no"}
"""Each process of the tests is an interpreter, whose end is seen as well: `tests/forked.py`."""


def run_pytest(session: nox.Session, *arguments: str) -> None:
    """Run tests, and those that failed once more."""
    try:
        run_first(session, *arguments)
    except CommandFailed:
        run_again(session)


@contextmanager
def files_in_memory(session: nox.Session) -> Iterator[None]:
    """Let temporary files be in memory for the length of the block, if they fit.

    Most tests write a small project and delete it: on a disk that is a sixth of their CPU time.
    """
    if not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < ROOM:
        session.log(f"{MEMORY} has no room for the files of tests: they are on the disk")
        yield
        return
    with tempfile.TemporaryDirectory(prefix="fx", dir=MEMORY, ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)  # PostgreSQL runs as another user, and has its data below it
        session.env["TMPDIR"] = folder
        try:
            yield
        finally:
            del session.env["TMPDIR"]


def run_first(session: nox.Session, *arguments: str, env: dict[str, str] | None = None) -> None:
    """Run tests, and remember which failed."""
    forget_passed([session.name])
    cache = _cache(session.name)
    session.run("pytest", "--cache-clear", "-o", f"cache_dir={cache}", *arguments, env=env)
    cache.mkdir(parents=True, exist_ok=True)
    (cache / PASSED).touch()


def forget_passed(names: Iterable[str]) -> None:
    """Let the last runs of sessions not count as passed, before others that may never begin."""
    for name in names:
        (_cache(name) / PASSED).unlink(missing_ok=True)


def run_again(session: nox.Session, env: dict[str, str] | None = None) -> None:
    """Run the tests that failed once more, if they are few, one after the other.

    A test that passes then is named. It may still be wrong, or what it tests: a deadline that is
    too short, or an order that only a loaded machine has. A run that failed for another reason
    than its tests, or in which some did not run, has failed.
    """
    cache = _cache(session.name)
    if (cache / PASSED).is_file():
        return
    record = cache / "v" / OUTCOMES
    if not record.is_file():
        session.error("the tests did not run to their end")
    run = json.loads(record.read_bytes())
    if run["missing"]:
        session.error(name_not_run(run["missing"]))
    known = cache / "v/cache/lastfailed"
    if run["status"] != TESTS_FAILED or not known.is_file():
        session.error(f"pytest failed, and not for its tests alone: its status is {run['status']}")
    failed = list(json.loads(known.read_bytes()))
    if len(failed) > MOST_AGAIN or not all("::" in test for test in failed):
        session.error(f"failed, and too many to run once more: {', '.join(failed)}")
    session.warn(f"these failed beside others, and run once more: {', '.join(failed)}")
    session.run("pytest", "-o", f"cache_dir={cache}", *failed, env=env)
    session.warn(f"repair these, which passed the second time only: {', '.join(failed)}")


def _cache(name: str) -> Path:
    return ROOT / ".nox" / f"cache-{name}"
