"""Which processes of tests are forked, and which are not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forked

pytestmark = pytest.mark.skipif(not forked.CAN_FORK, reason="processes are forked on Linux")


def test_a_command_needs_no_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run([*forked.FX, "--version"], check=True)  # starts the process that forks

    def execute(*_: object) -> None:
        raise AssertionError("a program is started")

    monkeypatch.setattr(forked, "_execute", execute)
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


@pytest.mark.parametrize("own", [True, False])
def test_a_process_ends_as_an_interpreter_does(own: bool, tmp_path: Path) -> None:
    (tmp_path / "test_ends.py").write_text(ENDS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    if own:
        command.insert(1, "-s")  # no module alone, and so not forked
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "and so it ends with 1" in done.stdout
    assert (tmp_path / "thread").exists()
    assert (tmp_path / "atexit").exists()
