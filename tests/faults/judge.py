"""What became of the promises: what clients were answered, held against what is in the database.

Pure: it takes what was seen.
"""

from __future__ import annotations

from collections import Counter

import attrs

PROMISES = (
    "money is conserved",
    "acknowledged writes are there",
    "atomic jobs take effect once",
    "jobs run at least once",
    "no job without its transfer",
    "no job is stuck or has failed",
    "back within 20 s",
)
RECOVERY = 20.0
"""How long after the end of a fault each client may wait for its first success (seconds)."""


@attrs.define
class Answers:
    """What clients were answered. Transfers are named by their ids."""

    acknowledged: set[str] = attrs.field(factory=set)
    rejected: Counter[int] = attrs.field(factory=Counter)
    """Answers that say that nothing was done, by status: 400 and above."""

    unknown: int = 0
    """Requests without an answer (count)."""

    def merge(self, other: Answers) -> Answers:
        """Return both as one."""
        return Answers(
            self.acknowledged | other.acknowledged,
            self.rejected + other.rejected,
            self.unknown + other.unknown,
        )


@attrs.frozen
class Ledger:
    """What is in the database when everything has settled."""

    cents: int
    """In all accounts together."""

    transfers: set[str]
    booked: Counter[str]
    """How often the atomic job of each transfer took effect."""

    notified: Counter[str]
    states: dict[str, int]
    """How many durable jobs of the bank are in each state."""


def judge(answers: Answers, ledger: Ledger, *, cents: int, back_after: float) -> dict[str, int]:
    """Return how often each of `PROMISES` was broken.

    ``cents`` is what there was in the beginning; ``back_after`` how long after the end of the
    fault each client had succeeded again (seconds).
    """
    broken = (
        int(ledger.cents != cents),
        len(answers.acknowledged - ledger.transfers),
        sum(ledger.booked[each] != 1 for each in ledger.transfers),
        len(ledger.transfers - ledger.notified.keys()),
        len((ledger.booked.keys() | ledger.notified.keys()) - ledger.transfers),
        sum(count for state, count in ledger.states.items() if state != "done"),
        int(back_after > RECOVERY),
    )
    return dict(zip(PROMISES, broken, strict=True))
