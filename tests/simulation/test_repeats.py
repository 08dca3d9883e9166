"""One seed is one run: in one process, in another one with other hashes, and for each strategy.

Nothing is left of it in memory, so that a night of seeds fits into one process.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from fxtrio.simulation import runs
from fxtrio.simulation.faults import NO_FAULTS
from fxtrio.simulation.runs import Options, Runner
from fxtrio.simulation.simulate import prepared_app
from tests.simulation.digests import SEEDS, digests
from tests.simulation.test_planted import APPS, book_twice

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


def test_a_release_of_trio_that_is_not_known_leads_to_the_same_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = digests()

    monkeypatch.setattr(runs, "short_sleeps", None)
    with pytest.raises(TypeError):
        digests()
    monkeypatch.setattr(trio, "__version__", "1.0.0")

    assert digests() == known


def test_the_classes_of_a_run_are_freed() -> None:
    def count_after(seeds: range) -> int:
        for seed in seeds:
            runner.run(seed)
        gc.collect()
        # `isinstance` would ask objects of other tests for their class, which proxies answer.
        classes = [one for one in gc.get_objects() if issubclass(type(one), type)]
        return len([one for one in classes if one.__qualname__ == "Booking"])

    runner = Runner(book_twice, prepared_app(APPS / "booking", {}), Options(faults=NO_FAULTS))
    assert count_after(range(1)) == count_after(range(4))
