"""The long form: processor time of every parser with long texts, which sees work within C too.

Lines and calls of Python are counted in the tests; how much a slice copies or a search looks
at is not. ``python -m tests.linear`` tries each piece at two sizes, and pieces of two at random.
"""

from __future__ import annotations

import argparse
import gc
import logging
import random
import sys
import time
import warnings
from contextlib import suppress

from .parsers import PARSERS
from .pieces import PIECES
from .tools import Parser

SMALL, TIMES = 4_000, 8
"""Bytes of the small input, and how much larger the large one is."""

NOTICED, GROWTH = 0.1, 24
"""Seconds from which on the large input is looked at. Linear time grows 8 times, quadratic 64."""


def main() -> int:
    """Return the exit code: 1 when some time grows faster than the text."""
    parser = argparse.ArgumentParser(prog="python -m tests.linear", description=__doc__)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="default: the time")
    parser.add_argument("--pairs", type=int, default=20, help="for each (default: %(default)s)")
    options = parser.parse_args()
    gc.disable()  # of all that has been imported: it takes a tenth of a second
    logging.disable()
    warnings.simplefilter("ignore")
    dice = random.Random(options.seed)
    print(f"seed {options.seed}")
    found = 0
    for name, parse in PARSERS.items():
        pairs = [b"".join(dice.sample(PIECES, 2)) for _ in range(options.pairs)]
        for piece in (*PIECES, *pairs):
            small, large = times_of(parse, piece)
            if large > NOTICED and large > GROWTH * small:
                found += 1
                print(f"{name}: {piece!r} takes {small:.3f} s, and {large:.3f} s", flush=True)
    print(f"{found} findings")
    return 1 if found else 0


def times_of(parse: Parser, piece: bytes) -> tuple[float, float]:
    """Return the seconds for `SMALL` bytes of ``piece``, and for `TIMES` as many."""
    return seconds(parse, piece, SMALL), seconds(parse, piece, TIMES * SMALL)


def seconds(parse: Parser, piece: bytes, size: int) -> float:
    """Return the processor time for about ``size`` bytes of ``piece``."""
    body = piece * (size // len(piece) + 1)
    times = []
    for _ in range(3):
        gc.collect(0)
        began = time.process_time()
        with suppress(Exception):
            parse(body)
        times.append(time.process_time() - began)
        if times[-1] < NOTICED:
            break
    return min(times)


if __name__ == "__main__":
    sys.exit(main())
