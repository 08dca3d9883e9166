"""Whatever clients, handlers and the network do, the broker forgets all of it."""

from __future__ import annotations

import attrs
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.websockets import WebSocket
from trio.testing import MockClock, wait_all_tasks_blocked

from fxtrio.realtime import channel
from fxtrio.realtime.handler import serve_websocket
from tests.realtime.client import Client, make_app
from tests.short import amount

NAMES = st.sampled_from(["one", "two"])
WHO = st.integers(0, 3)
STEPS = st.one_of(
    st.tuples(st.just("join"), NAMES, st.booleans()),
    st.tuples(st.just("publish"), NAMES, st.integers(1, 8)),
    st.tuples(st.just("talk"), WHO),
    st.tuples(st.sampled_from(["stop reading", "read on"]), WHO),
    st.tuples(st.sampled_from(["leave", "fail", "cancel", "break off", "disconnect"]), WHO),
    st.tuples(st.just("wait"), st.sampled_from([0.05, 0.2, 2.0, 40.0])),
)


class Boom(Exception):
    pass


@attrs.define(eq=False)
class Participant:
    """A client in a room, and the reins of its handler."""

    client: Client
    name: str
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    wake: trio.Event = attrs.field(factory=trio.Event)
    fails: bool = False

    async def handler(self, ws: WebSocket) -> None:
        await ws.accept()
        async with channel(ws, self.name, member=self.name) as room:
            await room.publish("hello")
            await self.wake.wait()
            if self.fails:
                raise Boom

    async def run(self) -> None:
        with self.scope:
            await serve_websocket(self.handler, self.client.ws)


async def play(app: Starlette, steps: list[tuple[object, ...]]) -> list[Participant]:
    participants: list[Participant] = []
    async with trio.open_nursery() as nursery:
        for number, (kind, *arguments) in enumerate(steps):
            if kind == "join":
                name, raw = arguments
                one = Participant(Client(app, raw=bool(raw)), str(name))
                participants.append(one)
                nursery.start_soon(one.run)
                nursery.start_soon(one.client.connect)
            elif kind == "publish":
                nursery.start_soon(publish, app, str(arguments[0]), number, arguments[1])
            elif kind == "wait":
                await trio.sleep(float(str(arguments[0])))
            elif participants:
                act(nursery, str(kind), participants[int(str(arguments[0])) % len(participants)])
            await wait_all_tasks_blocked()
        for one in participants:
            one.wake.set()
            one.client.read_on()
        await trio.sleep(100)
        nursery.cancel_scope.cancel()
    return participants


async def publish(app: Starlette, name: str, step: int, count: object) -> None:
    for number in range(int(str(count))):
        await app.state.fx_broker.publish(name, f"{step:03}.{number}")


def act(nursery: trio.Nursery, kind: str, one: Participant) -> None:
    match kind:
        case "leave":
            one.wake.set()
        case "fail":
            one.fails = True
            one.wake.set()
        case "cancel":
            one.scope.cancel()
        case "break off":
            one.client.break_off()
        case "disconnect":
            nursery.start_soon(one.client.disconnect)
        case "stop reading":
            one.client.stop_reading()
        case "read on":
            one.client.read_on()
        case "talk":
            nursery.start_soon(one.client.send, "hello")


@settings(max_examples=amount(50, short=10, long=200))
@given(
    st.lists(STEPS, min_size=12, max_size=30),
    st.sampled_from(["close", "drop_oldest"]),
    st.integers(1, 4),
)
def test_after_any_course_of_events_the_broker_is_empty(steps, overflow, outbox):
    async def main() -> None:
        app = make_app(overflow=overflow, outbox=outbox)
        members = [("join", "one", raw) for raw in (False, True, True)]
        participants = await play(app, [*members, *steps])
        statistics = app.state.fx_broker.statistics()
        assert (statistics.channels, statistics.subscriptions) == (0, 0)
        for one in participants:
            numbers = [str(text) for text in one.client.received if text != "hello"]
            assert len(numbers) == len(set(numbers)), "twice"
            for step in {number[:3] for number in numbers}:
                mine = [number for number in numbers if number.startswith(step)]
                assert mine == sorted(mine), "out of the order of their publisher"
            assert "fx.inbox" not in one.client.scope

    trio.run(main, clock=MockClock(autojump_threshold=0))
