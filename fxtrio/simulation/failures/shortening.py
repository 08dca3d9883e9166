"""Looks for a shorter run with the same failure: fewer visitors, fewer faults, a plainer order."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from fxtrio.simulation.runs import Run, Variant

ATTEMPTS = 150
"""Runs that are spent on it, at most (count)."""

STEPS = 300_000
"""Steps that are spent on it, at most (count): runs that hang are long."""

_SCHEDULES = 8
"""Orders of steps that are tried with fewer visitors (count)."""


@attrs.define
class _Search:
    """The shortest run so far."""

    kind: type[BaseException]
    run: Callable[[Variant], Run]
    shortest: Run
    variant: Variant = attrs.field(factory=Variant)
    left: int = ATTEMPTS
    steps_left: int = STEPS

    def attempt(self, variant: Variant) -> bool:
        """Adopt a variant if it fails in the same way; return whether it does."""
        if self.left <= 0 or self.steps_left <= 0:
            return False
        self.left -= 1
        found = self.run(variant)
        self.steps_left -= found.steps
        if type(found.error) is not self.kind:
            return False
        self.shortest, self.variant = found, variant
        return True


def shorten(failed: Run, run: Callable[[Variant], Run]) -> Variant:
    """Return the variant of the shortest run found that fails with an error of the same class.

    ``run`` repeats the seed with a variant.
    """
    assert failed.error is not None
    search = _Search(type(failed.error), run, failed)
    _leave_out_faults(search)
    _leave_out_visitors(search)
    _leave_out_faults(search)
    _put_in_order(search)
    return search.variant


def _leave_out_faults(search: _Search) -> None:
    names = frozenset(fault.name for fault in search.shortest.faults)
    if names and search.attempt(
        attrs.evolve(search.variant, without=search.variant.without | names)
    ):
        return
    for fault in search.shortest.faults:
        without = search.variant.without | {fault.name}
        search.attempt(attrs.evolve(search.variant, without=without))


def _leave_out_visitors(search: _Search) -> None:
    """Let first half of the visitors stay away, then a quarter, then one at a time."""
    size = len(search.shortest.visitors) // 2
    while size and search.left > 0:
        there = [name for name in search.shortest.visitors if name not in search.variant.absent]
        parts = [there[start : start + size] for start in range(0, len(there), size)]
        if not any(_leave_out(search, part) for part in parts if len(part) < len(there)):
            size //= 2


def _leave_out(search: _Search, names: list[str]) -> bool:
    absent = search.variant.absent | frozenset(names)
    return any(
        search.attempt(attrs.evolve(search.variant, absent=absent, schedule=schedule))
        for schedule in range(_SCHEDULES)
    )


def _put_in_order(search: _Search) -> None:
    """Find a step from which on the order of tasks does not matter."""
    low, high = 0, search.shortest.steps
    while low < high and search.left > 0:
        middle = (low + high) // 2
        if search.attempt(attrs.evolve(search.variant, ordered_from=middle)):
            high = min(middle, search.shortest.steps)
        else:
            low = middle + 1
