"""Prints what the first seeds of some simulations come to."""

from __future__ import annotations

import json

from fxtrio.simulation.faults import Faults
from fxtrio.simulation.runs import Options, Runner
from fxtrio.simulation.simulate import close_all, prepared_app
from tests.simulation.test_planted import APPS, book_twice, leave_a_listener_behind, lose_an_update

SEEDS = 4

SCENARIOS = {
    "bank": lose_an_update,
    "booking": book_twice,
    "hub": leave_a_listener_behind,
}


def digests() -> dict[str, list[str]]:
    """Return the digests of runs with all faults, by app."""
    found: dict[str, list[str]] = {}
    for name, scenario in SCENARIOS.items():
        app = prepared_app(APPS / name, {})
        for strategy in ("random", "pct"):
            faults = Faults(kill=0.5, shutdown=0.3)
            runner = Runner(scenario, app, Options(faults=faults, strategy=strategy, length=300))
            runs = [runner.run(seed) for seed in range(SEEDS)]
            found[f"{name} {strategy}"] = [f"{run.digest} {run.seconds}" for run in runs]
    return found


if __name__ == "__main__":
    print(json.dumps(digests()))
    close_all()
