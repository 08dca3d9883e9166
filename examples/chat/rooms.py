"""The rooms there are, and what was said in them last. Kept in this process."""

from collections import deque

ROOMS = {name: deque(maxlen=50) for name in ("lobby", "garden", "kitchen")}


def history(name: str) -> list[dict]:
    """Return what was said last in a room, oldest first."""
    return list(ROOMS[name])


def remember(name: str, message: dict) -> None:
    """Keep a message; the oldest one goes when there are fifty."""
    ROOMS[name].append(message)
