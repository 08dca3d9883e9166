"""Which processes of tests are forked, and which are not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forked
from tests.ci import pytest_runs

pytestmark = pytest.mark.skipif(not forked.FORKS, reason="no processes are forked")


def allow_only_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the start of a program be an error from here on."""
    subprocess.run([*forked.FX, "--version"], check=True)  # starts the process that forks

    def execute(*_: object) -> None:
        raise AssertionError("a program is started")

    monkeypatch.setattr(forked, "_execute", execute)


def test_a_command_needs_no_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    allow_only_forks(monkeypatch)
    done = subprocess.run([*forked.FX, "--version"], check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout.startswith("fx, version")


def test_a_process_has_its_folder_variables_streams_and_exit_code(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "fx.config.json").write_text('{"port": "none"}')
    done = subprocess.run(
        [*forked.FX, "config"],
        cwd=tmp_path,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "fx.config.json" in done.stderr
    assert done.stdout == ""


def test_variables_that_count_at_the_start_count(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    (tmp_path / "sitecustomize.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    variables = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run([*forked.FX, "--version"], env=variables, check=True)
    assert mark.exists()


@pytest.mark.own_interpreter
def test_a_mark_gives_each_process_an_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(*_: object) -> int:
        raise AssertionError("a process is forked")

    monkeypatch.setattr(forked, "_ask", ask)
    subprocess.run([*forked.FX, "--version"], check=True)


INSTALLS = """
import subprocess
from tests import forked

execute = subprocess.Popen._execute_child
forked.install()
print(subprocess.Popen._execute_child is execute)
"""


def test_the_nightly_run_gives_each_process_an_interpreter() -> None:
    answers = [
        subprocess.check_output(
            [sys.executable, "-c", INSTALLS],
            cwd=Path(__file__).parents[1],
            env=os.environ | variables,
            text=True,
        )
        for variables in ({}, pytest_runs.NO_FORKS)
    ]
    assert answers == ["False\n", "True\n"]


ENDS = """
import atexit
import threading
from pathlib import Path


def wait():
    threading.main_thread().join()
    Path("thread").touch()


def test_fails():
    threading.Thread(target=wait).start()
    atexit.register(Path("atexit").touch)
    assert False, "and so it ends with 1"
"""

CANNOT_FLUSH = """
import atexit
import os


def print_where_nothing_fits():
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
    print("late")


def test_passes():
    atexit.register(print_where_nothing_fits)
"""


@pytest.fixture(params=["interpreter", "fork"])
def command(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a command line that runs pytest, in an interpreter of its own and in a fork."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    pytest_alone = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    if request.param == "interpreter":
        return [sys.executable, "-s", *pytest_alone[1:]]  # no module alone, and so not forked
    allow_only_forks(monkeypatch)
    return pytest_alone


def run(command: list[str], folder: Path, test: str) -> subprocess.CompletedProcess[str]:
    """Run pytest with one test file."""
    (folder / "test_ends.py").write_text(test)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_process_ends_as_an_interpreter_does(command: list[str], tmp_path: Path) -> None:
    done = run(command, tmp_path, ENDS)
    assert done.returncode == 1, done.stderr
    assert "and so it ends with 1" in done.stdout
    assert (tmp_path / "thread").exists()
    assert (tmp_path / "atexit").exists()


def test_a_process_that_cannot_write_its_last_output_has_failed(
    command: list[str], tmp_path: Path
) -> None:
    done = run(command, tmp_path, CANNOT_FLUSH)
    assert done.returncode == 120, done.stderr
    assert "No space left on device" in done.stderr
