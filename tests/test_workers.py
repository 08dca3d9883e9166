"""Test files that run beside each other in forked processes: `tests/workers.py`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from nox.command import CommandFailed

from tests.ci import OUTCOMES, pytest_runs
from tests.outcomes import Outcomes
from tests.trees import write_tree

ROOT = Path(__file__).parents[1]

TREE = {
    "conftest.py": """
        import os
        import signal
        import pytest
        from tests.outcomes import Outcomes
        from tests.workers import Workers

        forks = []

        def end_the_first():
            if not forks:
                os.kill(os.getpid(), signal.SIGKILL)

        def pytest_configure(config):
            config.pluginmanager.register(Outcomes())
            config.pluginmanager.register(Workers(2))
            os.mkfifo("lives")
            os.register_at_fork(
                after_in_parent=lambda: forks.append(None), after_in_child=end_the_first
            )

        @pytest.fixture(scope="session")
        def process():
            yield os.getpid()
            with open("left", "a") as file:
                file.write(f"{os.getpid()}\\n")
        """,
    "test_lost.py": """
        def test_of_the_lost():
            pass

        def test_of_another():
            pass
        """,
    "test_one.py": """
        import os

        def test_passes(process):
            assert process == os.getpid() != os.getppid()

        def test_fails(process):
            print("printed " + "here")
            assert process == 0
        """,
    "test_other.py": """
        import pytest

        @pytest.fixture
        def broken(process):
            yield
            raise RuntimeError("torn")

        def test_teardown(broken):
            pass

        def test_skips():
            pytest.skip("a reason")
        """,
    "test_third.py": """
        import atexit
        import os
        import signal

        def test_before(process, tmp_path):
            (tmp_path / "before").touch()

        def test_crashes():
            lives = os.open("lives", os.O_RDWR)
            if os.fork() == 0:
                signal.alarm(20)
                os.read(lives, 1)
                os._exit(0)
            os.kill(os.getpid(), signal.SIGKILL)

        def test_after(process, tmp_path):
            (tmp_path / "after").touch()
            os.write(os.open("lives", os.O_WRONLY | os.O_NONBLOCK), b"!")
            atexit.register(os._exit, 3)
        """,
}


def test_every_outcome_is_that_of_one_process(tmp_path: Path) -> None:
    write_tree(tmp_path, TREE)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-ra", "--basetemp=temporary"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    summary = dict(re.findall(r"^(FAILED|ERROR|SKIPPED) (.*)$", done.stdout, re.MULTILINE))
    assert set(summary) == {"FAILED", "ERROR", "SKIPPED"}, done.stdout + done.stderr
    lines = set(re.findall(r"(PASSED|FAILED|SKIPPED|ERROR) test_\w+\.py::(\w+)", done.stdout))
    assert lines >= {
        ("FAILED", "test_of_the_lost"),
        ("PASSED", "test_of_another"),
        ("PASSED", "test_passes"),
        ("FAILED", "test_fails"),
        ("PASSED", "test_teardown"),
        ("ERROR", "test_teardown"),
        ("SKIPPED", "test_skips"),
        ("PASSED", "test_before"),
        ("FAILED", "test_crashes"),
        ("PASSED", "test_after"),
    }
    assert "5 passed, 1 skipped, 2 errors" in done.stdout and "3 failed" in done.stdout
    assert "printed here" in done.stdout
    assert "The process of this test ended during it, with status -9." in done.stdout
    assert "The process of this test ended before it, with status -9." in done.stdout
    assert "ended with status 3 after all of its tests" in done.stdout
    folders = {file.name: file.parts[-3] for file in tmp_path.glob("temporary/*/test_*0/*")}
    assert folders.keys() == {"before", "after"}
    assert folders["before"] != folders["after"]  # a folder of each process
    outcomes = json.loads((tmp_path / ".pytest_cache/v" / OUTCOMES).read_text())
    assert outcomes == {"status": 1, "missing": []}
    assert done.returncode == 1
    left = (tmp_path / "left").read_text().split()
    assert len(set(left)) == len(left) >= 1  # each process that lives to its end, once


GROUPED = {
    "conftest.py": """
        from tests.workers import GROUP, Workers

        def pytest_configure(config):
            config.pluginmanager.register(Workers(3))

        def pytest_collection_modifyitems(items):
            for item in items:
                if item.path.name != "test_c.py":
                    item.stash[GROUP] = "one"
        """,
    **{
        f"test_{name}.py": f"""
            import os

            def test_process():
                with open("{name}", "w") as file:
                    file.write(str(os.getpid()))
            """
        for name in "abc"
    },
}


def test_files_of_a_group_run_in_one_process(tmp_path: Path) -> None:
    write_tree(tmp_path, GROUPED)
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        check=True,
    )
    a, b, c = ((tmp_path / name).read_text() for name in "abc")
    assert a == b != c


def test_a_test_without_outcome_fails_the_run() -> None:
    outcomes, lines = Outcomes(), list[str]()
    records: dict[str, Any] = {}
    for nodeid, when, outcome in [
        ("passes", "call", "passed"),
        ("skips", "setup", "skipped"),
        ("breaks", "setup", "failed"),
        ("begins", "setup", "passed"),
    ]:
        report: Any = pytest.TestReport(nodeid, ("", 0, ""), {}, outcome, None, when)  # type: ignore[arg-type]
        outcomes.pytest_runtest_logreport(report)
    reporter = SimpleNamespace(write_line=lambda line, red: lines.append(line))
    session: Any = SimpleNamespace(
        exitstatus=0,
        items=[SimpleNamespace(nodeid=each) for each in ("passes", "skips", "breaks", "begins")],
        config=SimpleNamespace(
            option=SimpleNamespace(collectonly=False),
            pluginmanager=SimpleNamespace(
                getplugin=lambda name: reporter, has_plugin=lambda name: True
            ),
            cache=SimpleNamespace(set=records.__setitem__),
        ),
    )
    outcomes.pytest_sessionfinish(session)
    assert session.exitstatus == 1
    assert lines == ["1 tests did not run: begins"]
    assert records == {OUTCOMES: {"status": 1, "missing": ["begins"]}}


def test_a_run_that_did_not_begin_is_not_the_one_that_passed_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytest_runs, "ROOT", tmp_path)
    session: Any = _Session({OUTCOMES: {"status": 0, "missing": []}}, 0)
    pytest_runs.run_first(session)
    pytest_runs.run_again(session)
    pytest_runs.forget_passed(["tests"])
    with pytest.raises(AssertionError, match="its status is 0"):
        pytest_runs.run_again(session)


class _Session:
    """What `run_pytest` uses of a session of nox; pytest leaves these files, and fails or not."""

    name = "tests"

    def __init__(self, files: dict[str, Any], status: int) -> None:
        self.files, self.status = files, status
        self.runs: list[tuple[str, ...]] = []

    def run(self, *command: str, env: object = None) -> None:
        self.runs.append(command)
        write_tree(
            pytest_runs.ROOT / ".nox/cache-tests/v",
            {name: json.dumps(value) for name, value in self.files.items()},
        )
        if self.status and len(self.runs) == 1:
            raise CommandFailed(f"Returned code {self.status}")

    def warn(self, text: str) -> None:
        pass

    def error(self, text: str) -> None:
        raise AssertionError(text)


FAILED = {"cache/lastfailed": {"test_it.py::test_it": True}}


@pytest.mark.parametrize(
    ("files", "status", "error"),
    [
        pytest.param({OUTCOMES: {"status": 0, "missing": []}}, 0, None, id="passed"),
        pytest.param(
            {OUTCOMES: {"status": 1, "missing": []}, **FAILED}, 1, None, id="passed again"
        ),
        pytest.param({}, -9, "not run to their end", id="pytest ended"),
        pytest.param(
            {OUTCOMES: {"status": 1, "missing": []}}, 1, "its status is 1", id="no test failed"
        ),
        pytest.param(
            {OUTCOMES: {"status": 0, "missing": []}}, 1, "its status is 0", id="failed at its end"
        ),
        pytest.param(
            {OUTCOMES: {"status": 3, "missing": []}, **FAILED}, 3, "status is 3", id="broke"
        ),
        pytest.param(
            {OUTCOMES: {"status": 1, "missing": ["test_it.py::test_lost"]}, **FAILED},
            1,
            "1 tests did not run: test_it.py::test_lost",
            id="not all ran",
        ),
    ],
)
def test_only_failures_of_tests_may_pass_the_second_time(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, Any],
    status: int,
    error: str | None,
) -> None:
    monkeypatch.setattr(pytest_runs, "ROOT", tmp_path)
    session: Any = _Session(files, status)
    if error is not None:
        with pytest.raises(AssertionError, match=error):
            pytest_runs.run_pytest(session)
        assert len(session.runs) == 1
        return
    pytest_runs.run_pytest(session)
    if not status:
        pytest_runs.run_again(session)  # as the sessions of other Pythons do
    assert len(session.runs) == (2 if status else 1)
