"""Damage to bytes: flips, splices, repeats that grow, and tokens of a dictionary in between."""

from __future__ import annotations

import random
from collections.abc import Sequence

from ..http1.mutations import damage

LARGEST = 1_000_000
"""Bytes that a case grows to at most: enough for what is quadratic to take seconds."""

LARGE = (3_000_000, 10_000_000, 10_485_000, 11_000_000)
"""Bytes of bodies around the limit of the app, which few cases have."""

GROWTH = (10, 100, 1000, 10_000, 100_000, 1_000_000)


def mutate(data: bytes, dice: random.Random, tokens: Sequence[bytes]) -> bytes:
    """Return ``data`` with a few things wrong; every fifth time it is as it was."""
    for _ in range(dice.choice([0, 1, 1, 2, 5])):
        match dice.randrange(10):
            case 0:
                data = grow(data, dice)
            case 1:  # another token in the place of some bytes
                at = dice.randrange(len(data) + 1)
                data = data[:at] + dice.choice(tokens) + data[at + dice.randint(0, 8) :]
            case 2:  # the end of one after the beginning of another
                other = dice.choice(tokens)
                data = (
                    data[: dice.randrange(len(data) + 1)] + other[dice.randrange(len(other) + 1) :]
                )
            case _:
                data = damage(data, dice, tokens)
    return data[:LARGEST]


def grow(data: bytes, dice: random.Random) -> bytes:
    """Repeat a part of ``data``, so that it becomes ten bytes longer, or a million."""
    start = dice.randrange(len(data) + 1)
    part = data[start : start + dice.choice([1, 1, 2, 5, 20])] or b"a"
    size = dice.choice(GROWTH[: dice.choice([3, 4, 5, 6])])
    return data[:start] + repeat(part, size) + data[start:]


def repeat(part: bytes, size: int) -> bytes:
    """Return as many times ``part`` as fit into ``size`` bytes, and at least one."""
    return part * max(1, size // len(part))
