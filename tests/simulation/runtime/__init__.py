"""What the runtime promises, under every order of steps and every fault that a seed chooses."""

from __future__ import annotations

from tests.short import amount

SEEDS = amount(120, short=20, long=200)
"""Of each test, beside those that have failed once: a minute of CPU time for all of them together.

`nox -s simulate` runs 100,000.
"""
