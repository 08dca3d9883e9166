"""Decides step by step which task runs, and between which steps something else happens."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from hashlib import blake2b
from itertools import count

import attrs
from trio.lowlevel import Task

from fxtrio.simulation.engine.strategies import InOrder, Strategy
from fxtrio.simulation.engine.trio_internals import is_stuck, requeue

_IDLE = 20
"""Turns of the event loop without a step and a deadline, after which nothing will happen."""


@attrs.define(eq=False)
class Scheduler:
    """An `Ordering` of Trio's tasks that is a function of its strategy alone."""

    _strategy: Strategy
    _limit: int | None = None
    """The step from which on the oldest task runs first; None for never."""

    steps: int = 0
    """How many steps tasks have made."""

    held: dict[Task, None] = attrs.field(factory=dict)
    """Runnable tasks that are not to run, since `is_frozen` says so."""

    is_frozen: Callable[[Task], bool] | None = None
    """Whether a task stays where it is, as in a process that was killed."""

    _stalled: set[Task] = attrs.field(factory=set)
    """Tasks that `hold_one` has chosen."""

    _delayed: dict[Task, int] = attrs.field(factory=dict)
    """New tasks, and the turn of the event loop in which each begins."""

    _batch: list[Task] = attrs.field(factory=list)
    """The tasks that can run now, while calls between two steps are made."""

    _turns: list[str] = attrs.field(factory=list)
    """The names of the tasks that ran in each turn of the event loop, one a line."""

    _due: list[tuple[int, int, Callable[[], None]]] = attrs.field(factory=list)
    _numbers: count[int] = attrs.field(factory=count)
    _turn: int = 0
    _idle: int = 0
    _on_turn: Callable[[], None] = lambda: None
    _on_stuck: Callable[[], None] = lambda: None

    def bind(self, on_turn: Callable[[], None], on_stuck: Callable[[], None]) -> None:
        """Call ``on_turn`` before each turn of the event loop.

        ``on_stuck`` is called when no task can run, and no deadline is left for one to wait for.
        """
        self._on_turn, self._on_stuck = on_turn, on_stuck

    @property
    def digest(self) -> str:
        """A hash of the names of all tasks in the order of their steps."""
        return blake2b("\0".join(self._turns).encode(), digest_size=8).hexdigest()

    def call_at(self, step: int, call: Callable[[], None]) -> None:
        """Call a function between two steps, before the one after ``step``."""
        heapq.heappush(self._due, (step, next(self._numbers), call))

    def call_in(self, steps: int, call: Callable[[], None]) -> None:
        """Call a function that many steps from now."""
        self.call_at(self.steps + steps, call)

    def delay_start(self, task: Task, turns: int) -> None:
        """Let a new task begin so many turns later, or before that when no other one can run."""
        if turns:
            self._delayed[task] = self._turn + turns + 1

    def shuffle(self, batch: list[Task]) -> None:
        """Leave in ``batch`` what runs now, last one first."""
        self._on_turn()
        self._turn += 1
        self._batch = batch
        while batch and self._due and self._due[0][0] <= self.steps:
            heapq.heappop(self._due)[2]()
        held = self.is_frozen is not None or self._stalled
        tasks = self._without_held(batch) if held else batch
        if self._delayed:
            tasks = self._without_delayed(tasks)
        if tasks:
            self._idle = 0
            batch[:] = self._chosen(tasks)
            return
        batch.clear()
        self._idle += 1
        if self._idle >= _IDLE and is_stuck():
            self._idle = 0
            self._on_stuck()

    def release(self) -> None:
        """Let all tasks run that were held."""
        self.is_frozen = None
        self._stalled.clear()
        requeue(self.held)
        self.held.clear()

    def hold_one(self, wanted: Callable[[Task], object]) -> Task | None:
        """Let the first of the tasks that can run now and are ``wanted`` wait for `let_go`.

        Called between two steps, as `call_at` does. None where there is none.
        """
        task = next((one for one in self._batch if wanted(one)), None)
        if task is not None:
            self._stalled.add(task)
        return task

    def let_go(self, task: Task) -> None:
        """Let a task run on."""
        self._stalled.discard(task)
        if task in self.held and not (self.is_frozen is not None and self.is_frozen(task)):
            del self.held[task]
            requeue([task])

    def _chosen(self, tasks: list[Task]) -> list[Task]:
        """Return the tasks that run now, last one first, and let the others wait."""
        strategy = self._strategy
        if self._limit is not None and self.steps >= self._limit:
            strategy = InOrder()
        if len(tasks) == 1:  # as in most turns
            chosen = strategy.choose(tasks)
            self.steps += 1
            self._turns.append(chosen[0].name)
            return chosen
        runnable = list(tasks)
        chosen = strategy.choose(tasks)
        if self._due:
            chosen = chosen[: max(self._due[0][0] - self.steps, 1)]
        if len(chosen) < len(runnable):
            now = set(chosen)
            requeue(task for task in runnable if task not in now)
        self.steps += len(chosen)
        self._turns.append("\n".join([task.name for task in chosen]))
        return chosen[::-1]

    def _without_held(self, batch: list[Task]) -> list[Task]:
        tasks = []
        for task in batch:
            if task in self._stalled or (self.is_frozen is not None and self.is_frozen(task)):
                self.held[task] = None
            else:
                tasks.append(task)
        return tasks

    def _without_delayed(self, tasks: list[Task]) -> list[Task]:
        """Return the tasks that have begun, or do now."""
        delayed, turn = self._delayed, self._turn
        due = [task for task in tasks if delayed.get(task, 0) <= turn]
        if not due and tasks:  # nothing else can run: no turns pass until the next one begins
            self._turn = turn = min(delayed[task] for task in tasks)
            due = [task for task in tasks if delayed[task] <= turn]
        for task in due:
            delayed.pop(task, None)
        if len(due) < len(tasks):
            requeue(task for task in tasks if task in delayed)
        return due
