"""What the tasks of a run did: every step's name, and a reader's view of the last ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import attrs
import trio
from trio.lowlevel import Task

from fxtrio.simulation.engine.places import place_of
from fxtrio.simulation.engine.scheduler import Scheduler
from fxtrio.simulation.servers.process import current_process

_LAST = 40
"""Steps that are described (count)."""


@attrs.frozen
class Step:
    """One step of a task of the application."""

    number: int
    time: float
    task: str
    place: str
    """Where it waits now: file, line and function; "" where it has ended."""


@attrs.define(eq=False)
class Trace(trio.abc.Instrument):
    """Records a run. Tasks without code of the application are named only."""

    _scheduler: Scheduler
    names: list[str] = attrs.field(factory=list)
    """The task of each step."""

    last: deque[Step] = attrs.field(factory=lambda: deque[Step](maxlen=_LAST))

    def after_task_step(self, task: Task) -> None:
        """Record where a task waits now."""
        self.names.append(task.name)
        place = place_of(task)
        if not place:
            return
        process = task.context.get(current_process)
        own = "the test" if task.name.endswith("._Main.run") else task.name
        name = own if process is None else f"{own} in {process.name}"
        self.last.append(Step(len(self.names), trio.current_time(), name, place))

    def count(self) -> int:
        """Return how many steps there were so far."""
        return len(self.names)

    def lines(self) -> list[str]:
        """Return the last steps, one a line; repeated ones are left out."""
        lines: list[str] = []
        before: tuple[str, str] | None = None
        for step in self.last:
            if (step.task, step.place) != before:
                lines.append(f"{step.number:6} {step.time:9.3f} s  {step.task}: {step.place}")
            before = step.task, step.place
        return lines


@attrs.frozen
class Difference:
    """Where two runs are not the same."""

    step: int
    text: str


def first_difference(one: Sequence[str], other: Sequence[str]) -> Difference | None:
    """Return where the `Trace.names` of two runs are not the same; None where they are."""
    for number, (a, b) in enumerate(zip(one, other, strict=False), 1):
        if a != b:
            text = f"at step {number}, {a!r} ran the first time and {b!r} the second time"
            return Difference(number, text)
    if len(one) == len(other):
        return None
    text = f"one run had {len(one)} steps, and the other one {len(other)}"
    return Difference(min(len(one), len(other)), text)
