"""What the runtime promises, under every order of steps and every fault that a seed chooses."""

from __future__ import annotations

from tests.short import amount

SEEDS = amount(200, short=20, long=500)
"""Of each test, beside those that have failed once: a minute for all of them on two cores.

`nox -s simulate` runs 100,000.
"""
