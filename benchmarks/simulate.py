"""CPU time of a seed: ``python -m benchmarks.simulate [SEEDS]``.

The apps are those of ``tests/simulation``: a bank whose balances are a module's, which six visitors
use, and bookings in SQLite, with three visitors. A race is planted in each.
"""

from __future__ import annotations

import sys
import time

from fxtrio.simulation.engine.strategies import StrategyName
from fxtrio.simulation.faults import NO_FAULTS, Faults
from fxtrio.simulation.runs import Options, Runner, Scenario
from fxtrio.simulation.simulate import close_all, prepared_app
from tests.simulation.test_planted import APPS, book_twice, lose_an_update

APP_SCENARIOS: tuple[tuple[str, Scenario], ...] = (
    ("bank", lose_an_update),
    ("booking", book_twice),
)


def measure(app: str, scenario: Scenario, options: Options, seeds: int) -> tuple[float, float, int]:
    """Return CPU time (ms) and steps of a seed, and in how many seeds the race was found."""
    runner = Runner(scenario, prepared_app(APPS / app, {}), options)
    runner.run(0)
    began = time.process_time()
    runs = [runner.run(seed) for seed in range(seeds)]
    used = 1000 * (time.process_time() - began) / seeds
    found = sum(run.error is not None for run in runs)
    return used, sum(run.steps for run in runs) / seeds, found


def main() -> None:
    """Print one line for each app, with and without faults, for each strategy."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(f"{'app':10}{'faults':8}{'strategy':10}{'CPU (ms)':>10}{'steps':>8}{'found':>12}")
    strategies: tuple[StrategyName, ...] = ("random", "pct")
    for app, scenario in APP_SCENARIOS:
        for name, faults in (("none", NO_FAULTS), ("all", Faults())):
            for strategy in strategies:
                options = Options(faults=faults, strategy=strategy, length=300)
                used, steps, found = measure(app, scenario, options, seeds)
                share = f"{found} of {seeds}"
                print(f"{app:10}{name:8}{strategy:10}{used:10.1f}{steps:8.0f}{share:>12}")
    close_all()


if __name__ == "__main__":
    main()
