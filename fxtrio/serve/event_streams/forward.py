"""Forwards what a generator yields to a response, until either ends."""

from __future__ import annotations

from math import inf
from typing import Protocol

import trio

from fxtrio.asgi_extensions import WholeResponse
from fxtrio.serve.event_streams.generated import Generated
from fxtrio.serve.event_streams.open_streams import OpenStream
from fxtrio.serve.event_streams.writer import COMMENT, SILENCE


class Writer(Protocol):
    """Where the values go."""

    begun: bool

    @property
    def direct(self) -> WholeResponse | None:
        """What takes values without waiting, from the first `write` on; None where nothing does."""

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
    value_at = sent_at = trio.current_time()
    while not open_stream.is_closing:
        value_at, sent_at = max(value_at, values.written_at), max(sent_at, values.written_at)
        deadline = value_at + timeout
        silence = sent_at + (SILENCE if writer.begun else opening)
        if (now := trio.current_time()) >= deadline:
            return False
        if now >= silence:
            with open_stream.until(inf):
                await writer.write(COMMENT)
            sent_at = now
            continue
        with open_stream.until(min(deadline, silence)) as waiting:
            batch = await values.take()
        if waiting.cancelled_caught:
            continue
        if batch is None:
            return True
        with open_stream.until(inf):
            if batch:
                await writer.write(batch)
                values.direct = writer.direct
            elif writer.direct is not None:
                await writer.direct.flush()
        value_at = sent_at = trio.current_time()
    return False
