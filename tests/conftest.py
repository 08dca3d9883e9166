"""What tests in several folders share."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import trio
from hypothesis import HealthCheck, settings

from fxtrio.server.supervise.options import count_cores
from tests import forked
from tests.in_turn import SHARED_DEV, in_turn, kind_of
from tests.outcomes import Outcomes
from tests.short import LONG, SHORT, amount, few_cases, unnamed_long
from tests.workers import GROUP, Workers

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let what tests print and log be sent between processes, half surrogate pairs too."""
    report = yield
    report.sections = [
        (name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections
    ]
    return report


# How long something takes is asserted nowhere: the machine may be busy.
settings.register_profile("fxtrio", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "of the run", settings.get_profile("fxtrio"), max_examples=amount(30, short=10, long=300)
)
settings.load_profile("of the run")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of the runs that take all tests."""
    parser.addoption("--workers", help="how many files run beside each other, or auto")


def _count_workers(option: str | None) -> int:
    """Return how many files shall run beside each other.

    Two more than there are cores: tests wait a lot, for processes and clocks. Each process starts
    a browser and stores: some 10 seconds of a core.
    """
    if option != "auto":
        return int(option or 1)
    return int(os.environ.get("FXTRIO_TESTS_WORKERS") or count_cores() + 2)


def pytest_configure(config: pytest.Config) -> None:
    """Let processes of fxtrio be forked, those without mark ``own_interpreter``, and tests too."""
    forked.install()
    config.pluginmanager.register(Outcomes(), "outcomes")
    workers = _count_workers(config.option.workers)
    if workers > 1 and hasattr(os, "fork"):
        config.pluginmanager.register(Workers(workers), "workers")
    # TypeScript ends before it has used so much, and collects no garbage: a fifth less work.
    os.environ.setdefault("GOGC", "off")
    os.environ.setdefault("GOMEMLIMIT", "700MiB")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Give the processes of a test with this mark an interpreter each."""
    if item.get_closest_marker("own_interpreter") is None:
        return (yield)
    forked.uninstall()
    try:
        return (yield)
    finally:
        forked.install()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave the modules and tests, which all stay, to no garbage collection: each would look.

    Those of the tests are rarer than usual, for a twentieth of their work.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what this run does not try; let files that run side by side alternate."""
    chosen = set(items)
    if not LONG:
        chosen -= unnamed_long(items, config.args, config.invocation_params.dir)
    if SHORT:
        chosen &= few_cases(items)
    config.hook.pytest_deselected(items=[each for each in items if each not in chosen])
    items[:] = [each for each in items if each in chosen]
    if not config.pluginmanager.has_plugin("workers"):
        return
    marks: dict[Path, set[str]] = {}
    for item in items:
        marks.setdefault(item.path, set()).update(mark.name for mark in item.iter_markers())
    kinds = {file: kind_of(file.parent.name, its) for file, its in marks.items()}
    groups = {file: SHARED_DEV if SHARED_DEV in its else file for file, its in marks.items()}
    places = in_turn({groups[file]: kind for file, kind in kinds.items()})
    items.sort(key=lambda item: places[groups[item.path]])
    for item in items:
        item.stash[GROUP] = groups[item.path]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Install what Node runs before the first test that needs it: its output would say so.

    Workers share the files of a PostgreSQL that has never run: to make them takes a second.
    """
    if any(item.get_closest_marker("node") for item in session.items):
        trio.run(_install_tools)
    if any("cluster" in getattr(item, "fixturenames", ()) for item in session.items):
        from tests.db.cluster import empty_data

        # Without PostgreSQL or its user each of those tests says it better.
        with suppress(KeyError, OSError, subprocess.SubprocessError):
            empty_data()


async def _install_tools() -> None:
    # Heavy, and most runs of a few tests have none of these.
    from fxtrio.compile.bundling.installation import tool, toolchain
    from fxtrio.compile.bundling.toolchain import ToolchainFailed, ensure_installed
    from fxtrio.node import NodeMissing
    from fxtrio.tools.types.report.compiler import PACKAGES

    for wanted in (toolchain(), tool("prettier"), tool(*PACKAGES)):
        with suppress(ToolchainFailed, NodeMissing):  # each of those tests says it better
            await ensure_installed(wanted, print)


@pytest.fixture(autouse=True, scope="module")
def _import_path() -> Iterator[None]:
    """Take the projects of a file from the import path after its last test.

    Python looks into each of them for whatever it imports: after a thousand apps that would be
    more work than to open one.
    """
    before = list(sys.path)
    yield
    sys.path[:] = before


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Chromium, one for all tests of a process: Playwright cannot be started twice in one."""
    from tests.e2e.support import open_browser

    with open_browser() as opened:
        yield opened


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """Chromium for one test, whose pages are closed with it: open ones try to reach its server."""
    yield chromium
    for context in chromium.contexts:
        context.close()
