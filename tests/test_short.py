"""Which tests a run leaves out, and which not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

HERE = "tests/test_short.py"
BESIDE = f"{HERE}::test_of_another"


@pytest.mark.nightly
@pytest.mark.parametrize("case", [1, 2])
def test_of_the_night(case: int) -> None:
    assert case


def test_of_another() -> None:
    assert ROOT.is_dir()


@pytest.mark.own_interpreter
@pytest.mark.parametrize(
    ("arguments", "collected"),
    [
        ((HERE,), 0),
        (("tests/test_tcp_proxy.py::test_data_that_is_held_comes_later", HERE), 0),
        ((BESIDE, HERE), 0),
        ((f"{HERE}::test_of_the_night",), 2),
        ((str(ROOT / HERE) + "::test_of_the_night[2]", BESIDE), 1),
        ((f"{HERE}::test_of_the_night[2]", HERE), 1),
    ],
)
def test_a_long_test_runs_when_it_is_named_itself(
    arguments: tuple[str, ...], collected: int
) -> None:
    command = (sys.executable, "-m", "pytest", "--collect-only", "-q", *arguments)
    usual = {name: text for name, text in os.environ.items() if name != "FXTRIO_TESTS"}
    run = subprocess.run(command, cwd=ROOT, env=usual, capture_output=True, text=True, timeout=120)
    assert run.returncode in (0, 5), run.stdout + run.stderr  # 5: nothing is left to run
    assert run.stdout.count("::test_of_the_night[") == collected, run.stdout + run.stderr
