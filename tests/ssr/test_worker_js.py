"""The tests of the worker's JavaScript run with the others."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

TESTS = sorted((Path(__file__).parent / "js").glob("*.test.mjs"))


@pytest.mark.node
@pytest.mark.parametrize("file", TESTS, ids=lambda path: path.name)
def test_javascript(file: Path) -> None:
    run = subprocess.run(
        ["node", "--test", str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
