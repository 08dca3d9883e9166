"""A module outside of the projects that are simulated, so that its state outlives a run."""

from __future__ import annotations

from typing import Any

OBJECTS: list[Any] = []
"""What is here is neither closed nor freed between two runs."""


def first_time() -> int:
    """Return 7 for the first call, and 0 for later ones."""
    OBJECTS.append("a call")
    return 7 if OBJECTS.count("a call") == 1 else 0
