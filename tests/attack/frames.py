"""WebSocket frames whose masks come from the dice, so that a case is the same each time."""

from __future__ import annotations

import random

from ..http1.frames import BINARY, CLOSE, CONT, PING, PONG, TEXT, frame

__all__ = ["BINARY", "CLOSE", "CONT", "PING", "PONG", "TEXT", "masked"]


def masked(
    opcode: int, payload: bytes, dice: random.Random, *, fin: bool = True, rsv: int = 0
) -> bytes:
    """Return a frame as a client sends it."""
    return frame(opcode, payload, fin=fin, rsv=rsv, mask=dice.randbytes(4))
