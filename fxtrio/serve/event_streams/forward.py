"""Forwards what a generator yields to a response, until either ends."""

from __future__ import annotations

from math import inf
from typing import Protocol

import trio

from fxtrio.serve.event_streams.generated import Generated
from fxtrio.serve.event_streams.open_streams import OpenStream
from fxtrio.serve.event_streams.writer import COMMENT, SILENCE


class Writer(Protocol):
    """Where the values go."""

    begun: bool

    async def write(self, data: bytes) -> None:
        """Send events."""
        ...


async def forward(
    values: Generated,
    writer: Writer,
    open_stream: OpenStream,
    *,
    place: str,
    timeout: float = inf,
    opening: float = inf,
) -> bool:
    """Run the generator of ``values`` and write all of them.

    Returns False when one has taken longer than ``timeout`` (seconds), or when the stream has to
    end. The time in which the client does not read counts for no value. A comment begins the
    response when there is no value for ``opening`` seconds.
    """
    async with trio.open_nursery() as nursery:
        nursery.start_soon(values.run, name=place)
        try:
            is_complete = await _write_all(values, writer, open_stream, timeout, opening)
        finally:
            values.abandon()
            nursery.cancel_scope.cancel("the stream has ended")
    return is_complete


async def _write_all(
    values: Generated, writer: Writer, open_stream: OpenStream, timeout: float, opening: float
) -> bool:
    deadline = trio.current_time() + timeout
    while not open_stream.is_closing:
        silence = trio.current_time() + (SILENCE if writer.begun else opening)
        is_silent = True
        with open_stream.until(min(deadline, silence)):
            batch = await values.take()
            is_silent = False
        if not is_silent:
            if batch is None:
                return True
            with open_stream.until(inf):
                await writer.write(batch)
            deadline = trio.current_time() + timeout
        elif trio.current_time() >= deadline:
            return False
        elif not open_stream.is_closing:
            with open_stream.until(inf):
                await writer.write(COMMENT)
    return False
