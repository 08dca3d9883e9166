"""What may go wrong in a run, and what did. Each decision depends on the seed and its own name.

So a run can be repeated without one of its faults, while the others stay what they are.
"""

from __future__ import annotations

from hashlib import blake2b
from random import Random

import attrs


def _probability(faults: Faults, attribute: attrs.Attribute[float], value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"Faults: {attribute.name} is {value!r}. Give a probability, from 0 to 1.")


@attrs.frozen(kw_only=True)
class Faults:
    """How often each kind of fault occurs (probabilities)."""

    leave: float = attrs.field(default=0.2, validator=_probability)
    """Of a visitor: to leave at any step, which disconnects a request or a WebSocket."""

    slow_reader: float = attrs.field(default=0.1, validator=_probability)
    """Of a connection: its client reads slowly."""

    slow_call: float = attrs.field(default=0.1, validator=_probability)
    """Of a call in a worker thread (plain functions, files, SQLite): to take long."""

    slow_task: float = attrs.field(default=0.1, validator=_probability)
    """Of a run: what a handler or a job waits for, at any of its checkpoints, takes long."""

    kill: float = attrs.field(default=0.1, validator=_probability)
    """Of a run: one process is killed between two steps, and started again."""

    shutdown: float = attrs.field(default=0.1, validator=_probability)
    """Of a run: one process is shut down in order, and started again."""

    jump: float = attrs.field(default=0.1, validator=_probability)
    """Of a run: time passes while tasks could run, so that deadlines are over at once."""

    store: float = attrs.field(default=0.2, validator=_probability)
    """Of a message between processes: to be late; of a run: to cut a process off the store."""

    longest: float = attrs.field(default=30.0, validator=attrs.validators.gt(0))
    """How long something takes that takes long, at most (seconds)."""


NO_FAULTS = Faults(
    leave=0, slow_reader=0, slow_call=0, slow_task=0, kill=0, shutdown=0, jump=0, store=0
)
"""Only the order of tasks varies."""


_NUMBERS = 1 << 64


@attrs.frozen
class Fault:
    """Something that went wrong in a run."""

    name: str
    """Such as ``leave 3``; the same in each run with the seed."""

    text: str
    """What happened, for a reader."""


@attrs.define(eq=False)
class FaultPlan:
    """Decides what goes wrong in one run."""

    faults: Faults
    seed: str
    _without: frozenset[str] = frozenset()
    """Names of faults that do not happen."""

    calm: bool = True
    """Whether nothing goes wrong now: before and after visitors are there."""

    happened: dict[str, Fault] = attrs.field(factory=dict)
    _counts: dict[str, int] = attrs.field(factory=dict)

    def next_name(self, kind: str) -> str:
        """Return a name for the next decision of a kind."""
        number = self._counts.get(kind, 0)
        self._counts[kind] = number + 1
        return f"{kind} {number + 1}"

    def draw(self, name: str, probability: float) -> Random | None:
        """Return what a fault may draw from if it happens; else None."""
        if self.calm or not probability:
            return None
        # Most draws are of no consequence, and to begin a `Random` takes ten times as long.
        if self._number(name) >= probability * _NUMBERS or name in self._without:
            return None
        return Random(f"{self.seed} {name}")

    def _number(self, name: str) -> int:
        """Return a number below `_NUMBERS` for a decision."""
        return int.from_bytes(blake2b(f"{self.seed} {name}".encode(), digest_size=8).digest())

    def note(self, name: str, text: str) -> None:
        """Say that a fault has happened."""
        self.happened[name] = Fault(name, text)

    def pause(self, kind: str, probability: float, text: str) -> float:
        """Return how long something takes (seconds), mostly 0."""
        name = self.next_name(kind)
        random = self.draw(name, probability)
        if random is None:
            return 0.0
        seconds: float = round(self.faults.longest ** random.random() * random.random(), 3)
        self.note(name, f"{text} {seconds:g} s")
        return seconds

    def delay(self) -> tuple[int, float, bool]:
        """Return how many turns and seconds a call in a thread takes, and whether after its work.

        Else before it.
        """
        number = self._number(self.next_name("thread"))
        seconds = self.pause("call", self.faults.slow_call, "a call in a thread took")
        return number % 4, seconds, number // 4 % 2 == 1


def some_steps(random: Random, most: int) -> int:
    """Return a number of steps, small ones more often than large ones."""
    return int(most ** random.random())
