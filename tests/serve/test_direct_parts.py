"""Values that the task of the generator writes itself, on servers that take parts at once."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import attrs
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from fxtrio.serve.event_streams.forward import forward
from fxtrio.serve.event_streams.generated import Generated
from fxtrio.serve.event_streams.open_streams import OpenStreams


@attrs.define(eq=False)
class Server:
    """A server, and the writer in front of it. ``is_full`` until `drain`."""

    parts: list[bytes] = attrs.field(factory=list)
    awaited: list[bytes] = attrs.field(factory=list)
    sent: list[bytes] = attrs.field(factory=list)
    begun: bool = False
    is_full: bool = False
    drained: trio.Event = attrs.field(factory=trio.Event)

    @property
    def direct(self) -> Any:
        return self

    async def write(self, data: bytes) -> None:
        self.begun = True
        self.awaited.append(data)
        self.sent.append(data)

    def write_part(self, body: bytes) -> bool:
        self.parts.append(body)
        self.sent.append(body)
        return not self.is_full

    async def flush(self) -> None:
        await self.drained.wait()

    async def run(self, generator: AsyncGenerator[Any, None], *, timeout: float) -> bool:
        async def opened() -> AsyncGenerator[Any, None]:
            return generator

        values = Generated(opened, str.encode, "the test")
        with OpenStreams(1).admit() as stream:
            return await forward(values, self, stream, place="the test", timeout=timeout)


async def test_the_values_of_one_turn_are_written_in_one_part(autojump_clock: MockClock) -> None:
    async def values() -> AsyncGenerator[str, None]:
        for turn in "abc":
            yield turn
            yield turn.upper()
            await trio.sleep(1)

    server = Server()
    assert await server.run(values(), timeout=10)
    assert (server.awaited, server.parts) == ([b"aA"], [b"bB", b"cC"])


async def test_a_generator_waits_for_a_client_that_reads_slowly(autojump_clock: MockClock) -> None:
    reached = []

    async def values() -> AsyncGenerator[str, None]:
        for letter in "abcdef":
            reached.append(letter)
            yield letter
            await trio.sleep(1)

    server = Server(is_full=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: server.run(values(), timeout=60))
        await trio.sleep(30)
        assert (reached, server.parts) == (["a", "b", "c"], [b"b"])
        server.is_full = False
        server.drained.set()
        await trio.sleep(30)
    assert b"".join(server.sent) == b"abcdef"
    assert server.awaited == [b"a", b"c"]


async def test_values_that_are_written_at_once_restart_both_clocks(
    autojump_clock: MockClock,
) -> None:
    async def values() -> AsyncGenerator[str, None]:
        for _ in range(10):
            yield "x"
            await trio.sleep(4)
        await trio.sleep_forever()

    server = Server()
    assert not await server.run(values(), timeout=20)
    assert trio.current_time() == 9 * 4 + 20
    assert (server.awaited, server.parts) == ([b"x", b":\n\n"], [b"x"] * 9)


async def test_a_value_behind_its_cancellation_is_still_in_order(autojump_clock: MockClock) -> None:
    async def values() -> AsyncGenerator[str, None]:
        yield "a"
        await trio.sleep(1)
        with trio.move_on_after(1):
            yield "b"
            await trio.sleep_forever()
        yield "c"

    server = Server()
    assert await server.run(values(), timeout=10)
    await wait_all_tasks_blocked()
    assert (server.awaited, server.parts) == ([b"a", b"c"], [b"b"])
