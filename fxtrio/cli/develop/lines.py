"""Lines of a stream: what the processes of `fx dev` say to each other, and what they print."""

from __future__ import annotations

from collections.abc import AsyncIterator

import trio


async def read_lines(stream: trio.abc.ReceiveStream) -> AsyncIterator[bytes]:
    """Yield each line without its end; the last one also when nothing ends it."""
    unread = bytearray()
    async for data in stream:
        unread += data
        *whole, rest = unread.split(b"\n")
        unread = bytearray(rest)
        for line in whole:
            yield bytes(line)
    if unread:
        yield bytes(unread)
