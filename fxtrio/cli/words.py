"""How commands say how many there are of something."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return ``1 page``, ``2 pages``: the number and the noun, which takes an "s"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
