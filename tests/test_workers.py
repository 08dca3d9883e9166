"""Test files that run beside each other in forked processes: `tests/workers.py`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.trees import write_tree

ROOT = Path(__file__).parents[1]

TREE = {
    "conftest.py": """
        import os
        import pytest
        from tests.workers import Workers

        def pytest_configure(config):
            config.pluginmanager.register(Workers(2))

        @pytest.fixture(scope="session")
        def process():
            yield os.getpid()
            with open("left", "a") as file:
                file.write(f"{os.getpid()}\\n")
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
        import os
        import signal

        def test_before(process):
            pass

        def test_crashes():
            os.kill(os.getpid(), signal.SIGKILL)

        def test_after(process):
            pass
        """,
}


def test_every_outcome_is_that_of_one_process(tmp_path: Path) -> None:
    write_tree(tmp_path, TREE)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-ra", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    shown = dict(re.findall(r"^(FAILED|ERROR|SKIPPED) (.*)$", done.stdout, re.MULTILINE))
    assert set(shown) == {"FAILED", "ERROR", "SKIPPED"}, done.stdout + done.stderr
    lines = set(re.findall(r"(PASSED|FAILED|SKIPPED|ERROR) test_\w+\.py::(\w+)", done.stdout))
    assert lines >= {
        ("PASSED", "test_passes"),
        ("FAILED", "test_fails"),
        ("PASSED", "test_teardown"),
        ("ERROR", "test_teardown"),
        ("SKIPPED", "test_skips"),
        ("PASSED", "test_before"),
        ("FAILED", "test_crashes"),
        ("PASSED", "test_after"),
    }
    assert "4 passed, 1 skipped, 1 error" in done.stdout and "2 failed" in done.stdout
    assert "printed here" in done.stdout
    assert "The process of this test ended during it, with status -9." in done.stdout
    assert done.returncode == 1
    left = (tmp_path / "left").read_text().split()
    assert len(set(left)) == len(left) >= 1  # each process that lives to its end, once
