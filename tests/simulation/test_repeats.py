"""One seed is one run: in one process, in another one with other hashes, and for each strategy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.simulation.digests import SEEDS, digests

ROOT = Path(__file__).parents[2]


def test_the_same_seeds_give_the_same_runs_in_another_process() -> None:
    here = digests()
    assert here == digests()
    assert len({run for runs in here.values() for run in runs}) > len(here) * SEEDS // 2
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    command = [sys.executable, "-m", "tests.simulation.digests"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, timeout=120, check=True
    )
    assert json.loads(done.stdout) == here
