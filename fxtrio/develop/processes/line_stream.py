"""Lines of a stream: what the processes of `fx dev` say to each other, and what they print."""

from __future__ import annotations

from collections.abc import AsyncIterator

import trio


async def read_lines(stream: trio.abc.ReceiveStream) -> AsyncIterator[bytes]:
    """Yield each line without its end; the last one also when nothing ends it."""
    begun: list[bytes] = []  # a long line comes in many pieces, and is joined once
    async for data in stream:
        end, *others = bytes(data).split(b"\n")
        begun.append(end)
        if others:
            yield b"".join(begun)
            for line in others[:-1]:
                yield line
            begun = [others[-1]]
    if rest := b"".join(begun):
        yield rest
