"""A run that does not repeat is an error, which names what it has used of chance."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import attrs
import pytest

from fx.testing import World, simulate
from fxtrio.simulation.faults import NO_FAULTS
from fxtrio.simulation.runs import Run, Runner, Variant
from fxtrio.simulation.simulate import NotRepeatable, Seeds, _explained
from tests.simulation import lasting

APP = Path(__file__).parent / "apps" / "chance"


@pytest.fixture(autouse=True)
def _nothing_lasts() -> Iterator[None]:
    yield
    lasting.OBJECTS.clear()


def source_of(action: str) -> str:
    """Return what an action depends on, as the failure of its simulation says."""

    async def act(world: World) -> None:
        await world.client().action("/", action)

    with pytest.raises(NotRepeatable) as caught:
        simulate(APP, faults=NO_FAULTS)(act)(Seeds(only=0))
    [source] = caught.value.sources
    assert source in str(caught.value)
    return source


@pytest.mark.parametrize(
    ("action", "source", "line"),
    [
        ("iterate_over_a_set", "the order of a set of 'Task', which depends on addresses", 21),
        ("ask_for_an_address", "'id', an address in memory", 29),
        ("ask_a_clock", "'time.perf_counter_ns', a clock of the machine", 35),
        ("draw_without_a_seed", "'random.Random' without a seed", 41),
    ],
)
def test_the_chance_that_an_action_uses_is_named(action: str, source: str, line: int) -> None:
    found = source_of(action)
    assert found.startswith(source)
    assert found.endswith(f"apps/chance/pages/index.fxl:{line})")


def test_state_that_is_left_from_the_run_before_is_named() -> None:
    assert "that the previous run has left" in source_of("remember_the_run_before")


def test_a_shortened_run_that_fails_otherwise_with_a_trace_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = Run(
        seed=0,
        error=ValueError("found"),
        steps=9,
        seconds=0.0,
        digest="digest",
        faults=(),
        visitors=(),
        absent=frozenset(),
        trace=None,
        chance=None,
        log=(),
    )

    class Chance:
        scenario = None

        def run(self, seed: int, variant: object = None, *, traced: bool = False) -> Run:
            return found if variant is None else attrs.evolve(found, error=KeyError("by chance"))

    monkeypatch.setattr("fxtrio.simulation.simulate.shorten", lambda run, again: Variant())
    monkeypatch.setattr("fxtrio.simulation.simulate.report", lambda *_: "a report")

    assert _explained(cast("Runner", Chance()), found) is found.error
