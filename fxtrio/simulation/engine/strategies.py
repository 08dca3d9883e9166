"""Which of the tasks that can run do so next."""

from __future__ import annotations

from random import Random
from typing import Literal, Protocol

import attrs
from trio.lowlevel import Task

StrategyName = Literal["random", "pct"]

_CUT = 0.25
"""How often only some of the tasks that can run do so before the others (probability)."""

_SPIN = 200
"""Turns in a row after which a task that never waits gives way (count)."""


class Strategy(Protocol):
    """Chooses among tasks. Called once for each batch, with the oldest task first."""

    def choose(self, tasks: list[Task]) -> list[Task]:
        """Return those that run now, in their order. The others remain runnable."""
        ...


@attrs.frozen
class InOrder:
    """Oldest first: the plainest schedule. Used to shorten what has failed."""

    def choose(self, tasks: list[Task]) -> list[Task]:
        """Return all tasks."""
        return tasks


@attrs.frozen
class Shuffled:
    """Any order; sometimes some tasks make several steps before the others make one."""

    _random: Random

    def choose(self, tasks: list[Task]) -> list[Task]:
        """Return all tasks, or some."""
        if len(tasks) < 2:
            return tasks
        self._random.shuffle(tasks)
        if self._random.random() < _CUT:
            return tasks[: self._random.randrange(1, len(tasks))]
        return tasks


@attrs.define(eq=False)
class ByPriority:
    """Probabilistic concurrency testing: the task of the highest priority runs alone.

    Priorities are random, and ``changes`` times the running task falls to the lowest one. A
    defect that needs d orderings of n tasks within k steps is found with a probability of at
    least 1 / (n * k^(d-1)) a run, with d-1 changes (Burckhardt, Kothari, Musuvathi, Nagarakatte:
    A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs, ASPLOS 2010).
    """

    _random: Random
    _changes: set[int]
    _priorities: dict[Task, float] = attrs.field(factory=dict)
    _steps: int = 0
    _lowest: float = 0.0
    _last: Task | None = None
    _repeats: int = 0

    @classmethod
    def started(cls, random: Random, *, depth: int, length: int) -> ByPriority:
        """Return one for defects of ``depth`` orderings, in runs of about ``length`` steps."""
        steps = range(1, max(length, depth + 1))
        return cls(random, set(random.sample(steps, max(depth - 1, 0))))

    def choose(self, tasks: list[Task]) -> list[Task]:
        """Return the one task of the highest priority."""
        if not tasks:
            return tasks
        for task in tasks:
            if task not in self._priorities:
                self._priorities[task] = 1 + self._random.random()
        self._steps += 1
        first = self._first(tasks)
        self._repeats = self._repeats + 1 if first is self._last else 0
        if self._steps in self._changes or self._repeats > _SPIN:
            self._lowest -= 1
            self._priorities[first] = self._lowest
            first, self._repeats = self._first(tasks), 0
        self._last = first
        return [first]

    def _first(self, tasks: list[Task]) -> Task:
        return max(tasks, key=self._priorities.__getitem__)
