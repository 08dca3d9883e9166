"""What the sessions of nox do, and what they and the run of pytest that they start agree upon."""

OUTCOMES = "fxtrio/outcomes"
"""The place in the cache of pytest: the status of a run, and its tests without an outcome."""

MOST_NAMED = 16
"""Tests that a message names, the first of those it is about (count)."""


def name_not_run(tests: list[str]) -> str:
    """Return the message about tests that have no outcome."""
    return f"{len(tests)} tests did not run: {', '.join(tests[:MOST_NAMED])}"
