"""What became of messages: which ones each subscriber got, and which losses were reported to it.

Pure: it takes what was published and what was heard.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import attrs

Heard = tuple[int, int] | None
"""A message's publisher and number; None where a subscriber was told of a loss."""


@attrs.frozen
class Verdict:
    """Over all subscribers (counts)."""

    received: int
    """Messages."""

    lost_silently: int
    """Messages that the store took, and that were neither delivered nor reported as lost."""

    lost_and_reported: int
    reports: int
    """Places at which a subscriber was notified that messages may be lost."""

    doubled: int
    disordered: int
    """Messages that came after a later one of their publisher."""

    def __add__(self, other: Verdict) -> Verdict:
        """Return both as one."""
        mine, others = attrs.astuple(self), attrs.astuple(other)
        return Verdict(*(one + two for one, two in zip(mine, others, strict=True)))


def judge(accepted: set[tuple[int, int]], heard: Sequence[Heard]) -> Verdict:
    """Return what one subscriber got of the messages that the store has ``accepted``.

    A loss is reported when there is a None where the message is missing: after what came
    before it from its publisher, and before what came after it.
    """
    messages = [one for one in heard if one is not None]
    places = {one: place for place, one in enumerate(heard) if one is not None}
    reports = [place for place, one in enumerate(heard) if one is None]
    silently = lost = disordered = 0
    for publisher in {publisher for publisher, _ in accepted | set(places)}:
        numbers = [number for by, number in messages if by == publisher]
        disordered += sum(two < one for one, two in pairwise(numbers))
        for number in [number for by, number in accepted if by == publisher]:
            if (publisher, number) in places:
                continue
            before = [places[publisher, one] for one in numbers if one < number]
            after = [places[publisher, one] for one in numbers if one > number]
            first, last = max(before, default=-1), min(after, default=len(heard))
            if any(first < place < last for place in reports):
                lost += 1
            else:
                silently += 1
    doubled = len(messages) - len(places)
    return Verdict(len(messages), silently, lost, len(reports), doubled, disordered)
