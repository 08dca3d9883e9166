"""What the runtime promises, under every order of steps and every fault that a seed chooses."""

from __future__ import annotations

from tests.short import amount

SEEDS = amount(20, long=50)
"""Of each test, beside those that have failed once; `nox -s simulate` runs 100,000."""
