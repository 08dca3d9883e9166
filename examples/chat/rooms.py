"""The rooms and their latest messages, in the memory of this process."""

from collections import deque

ROOMS = {name: deque(maxlen=50) for name in ("lobby", "garden", "kitchen")}


def history(name: str) -> list[dict]:
    """Return the latest messages of a room, oldest first."""
    return list(ROOMS[name])


def remember(name: str, message: dict) -> None:
    """Store a message; a room holds the latest fifty."""
    ROOMS[name].append(message)
