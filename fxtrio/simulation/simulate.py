"""`simulate`: runs a test once for each seed, and says what it takes to see a failure again."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import attrs

from fxtrio.simulation.engine.strategies import StrategyName
from fxtrio.simulation.failures.report import report
from fxtrio.simulation.failures.shortening import shorten
from fxtrio.simulation.failures.trace import first_difference
from fxtrio.simulation.faults import NO_FAULTS, Faults
from fxtrio.simulation.runs import Options, Run, Runner, Scenario
from fxtrio.simulation.servers.prepared_app import PreparedApp, prepare
from fxtrio.simulation.world import World

_ATTEMPTS = 4
"""Runs that are compared to find out where those of a seed differ (count)."""


class NotRepeatable(AssertionError):
    """The same seed has led to two different runs."""

    def __init__(self, seed: int, difference: str, sources: Sequence[str] = ()) -> None:
        cause = (
            "Until then it used chance that the seed does not decide: " + "; ".join(sources)
            if sources
            else "Something there depends on chance that the seed does not decide: the order of a "
            "set, 'id()', a clock or a random generator of a library in C"
        )
        super().__init__(f"seed {seed} does not repeat: {difference}. {cause}.")
        self.seed = seed
        self.sources = tuple(sources)
        """The chance that was found, with its places."""


@attrs.frozen
class Seeds:
    """Which seeds are run."""

    count: int | None = None
    """None for as many as the test asks for."""

    only: int | None = None
    """The one seed that is run."""

    share: int = 0
    shares: int = 1
    """How many workers share the seeds, and which of them this one is, from 0 on."""

    def of(self, count: int, also: Sequence[int] = ()) -> Sequence[int]:
        """Return the seeds for a test that asks for ``count``, and for those of ``also``."""
        if self.only is not None:
            return [self.only]
        wanted = range(count if self.count is None else self.count)
        return [*(seed for seed in also if seed not in wanted), *wanted][self.share :: self.shares]


_FROM_OPTIONS = Seeds()


def simulate(
    root: str | Path,
    *,
    seeds: int = 200,
    also: Sequence[int] = (),
    faults: Faults | None = None,
    strategy: StrategyName = "random",
    depth: int = 3,
    processes: int = 1,
    **settings: Any,
) -> Callable[[Scenario], Callable[..., None]]:
    """Run an async test of a `World` once for each seed: ``@simulate(ROOT, seeds=200)``.

    The project in ``root`` is compiled once, and started anew for each seed: with ``processes``
    of it on one database, in an order of steps that the seed decides, on a clock that passes time
    only when every task waits. ``faults`` says what goes wrong, and how often; all of it by
    default. ``strategy`` is ``"random"``, or ``"pct"`` for defects that need ``depth`` steps in
    one order. ``also`` are seeds that run besides, such as those that failed once. ``settings`` are
    those of `open_app`.

    The test fails with the error of the first seed that does. A note says which one, what had
    gone wrong, what the last steps were, and how to run it again. The decorated function is not
    async; fixtures are those of its other parameters. It can be called without pytest, too.
    """
    path = Path(root).resolve()

    def decorate(scenario: Scenario) -> Callable[..., None]:
        def runner(**fixtures: Any) -> Runner:
            options = Options(
                faults=Faults() if faults is None else faults,
                strategy=strategy,
                depth=depth,
                processes=processes,
                arguments=fixtures,
            )
            return _with_length(Runner(scenario, prepared_app(path, settings), options))

        def run(fx_seeds: Seeds = _FROM_OPTIONS, **fixtures: Any) -> None:
            first = fx_seeds.share == 0
            run_seeds(runner(**fixtures), fx_seeds.of(seeds, also), compared=first)

        run.runner = runner  # type: ignore[attr-defined]  # see `runner_of`
        return _as_test(run, scenario)

    return decorate


def runner_of(test: Callable[..., None], **fixtures: Any) -> Runner:
    """Return what runs single seeds of a decorated test, and raises nothing of what they do."""
    runner: Runner = test.runner(**fixtures)  # type: ignore[attr-defined]  # made by `simulate`
    return runner


def run_seeds(runner: Runner, seeds: Iterable[int], *, compared: bool = True) -> list[Run]:
    """Run a scenario with each seed. Raises what the first failing run has raised.

    ``compared`` runs the first seed twice: once for a test is enough to see that chance is not
    decided by the seed.
    """
    runs: list[Run] = []
    for seed in seeds:
        found = runner.run(seed)
        if found.error is not None:
            raise _explained(runner, found)
        if compared and not runs:
            _require_same(runner, found)
        runs.append(found)
    return runs


def _with_length(runner: Runner) -> Runner:
    """Tell ``pct`` how many steps a run has, about: the same whichever seeds are run."""
    if runner.options.strategy == "random":
        return runner
    shuffled = attrs.evolve(runner.options, strategy="random", faults=NO_FAULTS)
    length = attrs.evolve(runner, options=shuffled).run(0).steps
    return attrs.evolve(runner, options=attrs.evolve(runner.options, length=length))


def _require_same(runner: Runner, found: Run) -> None:
    """Run a seed once more. Raises NotRepeatable."""
    if runner.run(found.seed).digest != found.digest:
        raise _not_repeatable(runner, found.seed)


def _not_repeatable(runner: Runner, seed: int) -> NotRepeatable:
    """Run a seed until two runs differ, and look for what the application used until then."""
    runs: list[Run] = []
    for _ in range(_ATTEMPTS):
        runs.append(runner.run(seed, traced=True, watched=True))
        names = [run.trace.names for run in runs[-2:] if run.trace is not None]
        difference = first_difference(*names) if len(names) > 1 else None
        if difference is not None:
            pair = [run.chance.used_until(difference.step) for run in runs[-2:] if run.chance]
            return NotRepeatable(seed, difference.text, list(dict.fromkeys(chain(*pair))))
    return NotRepeatable(
        seed,
        "its first run differs from the following ones, which are alike",
        ["state that the previous run has left, in a module or a file outside of the project"],
    )


def _explained(runner: Runner, found: Run) -> BaseException:
    """Return the error of a run with a note that says how to see it again."""
    again = runner.run(found.seed, traced=True)
    if again.digest != found.digest or again.error is None:
        return _not_repeatable(runner, found.seed)
    # Only the last one is traced, which costs half as much again.
    variant = shorten(again, functools.partial(runner.run, found.seed))
    shortest = runner.run(found.seed, variant, traced=True)
    if type(shortest.error) is not type(again.error):  # it has used chance
        shortest = again
    assert shortest.error is not None
    shortest.error.add_note(report(runner.scenario, again, shortest))
    return shortest.error


_apps: dict[tuple[Path, str], PreparedApp] = {}


def prepared_app(root: Path, settings: dict[str, Any]) -> PreparedApp:
    """Return the compiled project; the same for all tests with these settings."""
    key = root, repr(sorted(settings.items(), key=lambda item: item[0]))
    if key not in _apps:
        prepared = prepare(root, settings)
        # Once without any fault: migrations run, and what the app itself fails with is plain.
        first = Runner(_do_nothing, prepared, Options(faults=NO_FAULTS)).run(0, keep=True)
        if first.error is not None:
            prepared.close()
            raise first.error
        _apps[key] = prepared
    return _apps[key]


async def _do_nothing(world: World) -> None:
    """Start the app, and shut it down."""


def close_all() -> None:
    """Remove what was compiled."""
    while _apps:
        _apps.popitem()[1].close()


def _as_test(run: Callable[..., None], scenario: Scenario) -> Callable[..., None]:
    """Return ``run`` with the name of ``scenario``, and with its parameters but for the world."""
    functools.update_wrapper(run, scenario)
    del run.__wrapped__  # type: ignore[attr-defined]  # pytest would look at its parameters
    scenario_parameters = list(inspect.signature(scenario).parameters.values())[1:]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("fx_seeds", kind), *scenario_parameters]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {}
    return run
