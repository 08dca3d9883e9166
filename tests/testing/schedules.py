"""Twenty pieces of work of an app, and the schedule of each: ``python -m tests.testing.schedules``.

Prints what came in which order, and which task ran when, as JSON. Started by
`test_repeatable.py` in processes that differ in all that must not matter.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import trio
from trio.testing import MockClock

from fxtrio.cache import revalidate
from fxtrio.realtime import publish
from fxtrio.tasks import TaskQueueError, enqueue
from fxtrio.testing import Client, SocketRejected, open_app, repeatable

ROOM = """
from fx.realtime import channel

async def websocket(ws):
    await ws.accept()
    async with channel(ws, "room", member={"id": ws.query_params["id"]}) as room:
        await room.publish({"joined": ws.query_params["id"]})
        async for text in ws.iter_text():
            await room.publish(text)

export default function Page() { return <p>Room</p>; }
"""
LAYOUT = """
import trio

@server
async def load(request):
    await trio.sleep(float(request.query_params.get("layout", 1)))
    return {"layout": True}

export default function Layout({ children }) { return <main>{children}</main>; }
"""
LOADERS = """
import trio
from fx.runtime import redirect

@server
async def load(request):
    await trio.sleep(float(request.query_params.get("page", 1)))
    if "fails" in request.query_params:
        raise LoaderError("no", 404)
    if "leads" in request.query_params:
        raise redirect("/room")
    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(trio.lowlevel.checkpoint)
    return {"page": True}

@action
async def work(request):
    async def after(number):
        await trio.sleep(number)
    for number in range(3):
        request.state.background.add_task(after, number)
    await trio.sleep(0.5)
    return {}

export default function Page() { return <p>Loaders</p>; }
"""
CACHED = """
import trio
CACHE = {"revalidate": 5}

@server(public=True)
async def load(request):
    await trio.sleep(1)
    return {}

export default function Page() { return <p>Kept</p>; }
"""
RATED = """
@action
async def vote(request):
    return {}

export default function Page() { return <p>Rated</p>; }
"""
FILES = {
    "room.fxl": ROOM,
    "loaders/layout.fxl": LAYOUT,
    "loaders/index.fxl": LOADERS,
    "kept.fxl": CACHED,
    "rated.fxl": RATED,
}
SETTINGS: dict[str, Any] = {
    "tasks": {"workers": 3, "capacity": 50},
    "timeouts": {"request": 10},
    "rate_limits": [{"route": "/rated", "limit": "3/minute"}],
}

Note = Callable[[str], None]
Work = Callable[[Client, Note], Awaitable[None]]


class Recorder(trio.abc.Instrument):
    """Which task ran in each step."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.began = trio.current_time()

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        at = trio.current_time() - self.began
        self.steps.append(f"{task.name.partition(' at 0x')[0]}@{at:.6f}")


def burn(steps: int) -> int:
    """Take the time of a machine that has much to do."""
    return sum(number * number for number in range(steps))


async def quick_jobs(client: Client, note: Note) -> None:
    async def job(number: int) -> None:
        note(f"job {number}")
        burn(3000)

    async def others() -> None:
        for step in range(4):
            note(f"other {step}")
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(others)
        for number in range(40):
            enqueue(job, number)
        await trio.lowlevel.checkpoint()


async def slow_jobs(client: Client, note: Note) -> None:
    async def job(number: int) -> None:
        await trio.sleep(number % 3)
        note(f"job {number}")

    for number in range(12):
        enqueue(job, number)
    await trio.sleep(20)


async def jobs_of_jobs(client: Client, note: Note) -> None:
    async def job(depth: int) -> None:
        note(f"depth {depth}")
        if depth:
            enqueue(job, depth - 1)
            enqueue(job, depth - 1)
        await trio.lowlevel.checkpoint()

    enqueue(job, 3)
    await trio.sleep(1)


async def failing_jobs(client: Client, note: Note) -> None:
    async def job(number: int) -> None:
        await trio.lowlevel.checkpoint()
        note(f"job {number}")
        raise ValueError(number)

    for number in range(8):
        enqueue(job, number)
    await trio.sleep(1)


async def a_full_queue(client: Client, note: Note) -> None:
    for number in range(60):
        try:
            enqueue(trio.sleep, 1)
        except TaskQueueError:
            note(f"full at {number}")
    await trio.sleep(60)


async def a_channel(client: Client, note: Note) -> None:
    async def member(number: int) -> None:
        async with client.websocket(f"/room?id={number}") as ws:
            for _ in range(3):
                note(f"{number}: {await ws.receive_json()}")

    async with trio.open_nursery() as nursery:
        for number in range(5):
            nursery.start_soon(member, number)
        await trio.sleep(1)
        for number in range(3):
            await publish("room", {"news": number})


async def members_that_talk(client: Client, note: Note) -> None:
    async def member(number: int) -> None:
        async with client.websocket(f"/room?id={number}") as ws:
            await ws.send_text(f"hello of {number}")
            with trio.move_on_after(number):
                while True:
                    note(f"{number}: {await ws.receive()!r}")

    async with trio.open_nursery() as nursery:
        for number in range(4):
            nursery.start_soon(member, number)


async def sockets_that_are_rejected(client: Client, note: Note) -> None:
    async def knock(number: int) -> None:
        try:
            async with client.websocket("/nowhere"):
                pass
        except SocketRejected as rejected:
            note(f"{number}: {rejected.status}")

    await together(knock, 4)


async def loaders_side_by_side(client: Client, note: Note) -> None:
    async def visit(number: int) -> None:
        response = await client.get(f"/loaders?layout={number}&page={3 - number}")
        note(f"{number}: {response.status_code}")

    await together(visit, 4)


async def loaders_that_fail(client: Client, note: Note) -> None:
    async def visit(number: int) -> None:
        response = await client.get(f"/loaders?fails&layout=3&page={number}")
        note(f"{number}: {response.status_code}")

    await together(visit, 4)


async def loaders_that_lead_on(client: Client, note: Note) -> None:
    async def visit(number: int) -> None:
        response = await client.get(f"/loaders?leads&layout={number}&page=2")
        note(f"{number}: {response.status_code}")

    await together(visit, 4)


async def one_load_for_all(client: Client, note: Note) -> None:
    revalidate("/kept")

    async def visit(number: int) -> None:
        response = await client.get("/kept")
        note(f"{number}: {response.status_code}")

    await together(visit, 6)


async def stale_pages(client: Client, note: Note) -> None:
    await client.get("/kept")

    async def visit(number: int) -> None:
        await trio.sleep(number * 3)
        response = await client.get("/kept")
        note(f"{number}: {response.status_code}")

    await together(visit, 5)


async def visitors_that_leave(client: Client, note: Note) -> None:
    async def visit(number: int) -> None:
        with trio.move_on_after(number) as scope:
            await client.get("/loaders?layout=2&page=2")
        note(f"{number}: {scope.cancelled_caught}")

    await together(visit, 5)


async def deadlines(client: Client, note: Note) -> None:
    async def visit(number: int) -> None:
        response = await client.get(f"/loaders?layout={8 + number}&page=1")
        note(f"{number}: {response.status_code}")

    await together(visit, 4)


async def work_after_responses(client: Client, note: Note) -> None:
    async def act(number: int) -> None:
        note(f"{number}: {(await client.action('/loaders', 'work')).ok}")

    await together(act, 3)
    await trio.sleep(10)


async def rates(client: Client, note: Note) -> None:
    async def visit(number: int) -> None:
        note(f"{number}: {(await client.get('/rated')).status_code}")

    await together(visit, 6)
    await trio.sleep(61)


async def navigation(client: Client, note: Note) -> None:
    async def visit(number: int) -> None:
        page = await client.load_page(f"/loaders?layout={number % 2}&page=1")
        note(f"{number}: {page.status}")

    await together(visit, 5)


async def things_that_are_not_there(client: Client, note: Note) -> None:
    async def visit(number: int) -> None:
        note(f"{number}: {(await client.get(f'/none/{number}')).status_code}")

    await together(visit, 5)


async def all_at_once(client: Client, note: Note) -> None:
    works = [a_channel, loaders_side_by_side, one_load_for_all, work_after_responses, slow_jobs]

    async def run(number: int) -> None:
        await works[number](client, note)

    await together(run, len(works))


async def together(func: Callable[[int], Awaitable[None]], count: int) -> None:
    """Call ``func`` with so many numbers, at the same time."""
    async with trio.open_nursery() as nursery:
        for number in range(count):
            nursery.start_soon(func, number)


WORKS: tuple[Work, ...] = (
    quick_jobs,
    slow_jobs,
    jobs_of_jobs,
    failing_jobs,
    a_full_queue,
    a_channel,
    members_that_talk,
    sockets_that_are_rejected,
    loaders_side_by_side,
    loaders_that_fail,
    loaders_that_lead_on,
    one_load_for_all,
    stale_pages,
    visitors_that_leave,
    deadlines,
    work_after_responses,
    rates,
    navigation,
    things_that_are_not_there,
    all_at_once,
)


def write(root: Path) -> None:
    """Write the project."""
    for name, text in FILES.items():
        path = root / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


async def main(times: int) -> dict[str, list[str]]:
    """Do every work so many times; return what each came to, in short."""
    found: dict[str, list[str]] = {work.__name__: [] for work in WORKS}
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        async with open_app(folder, mode="production", name="schedules", **SETTINGS) as client:
            for seed in range(times):
                for work in WORKS:
                    found[work.__name__].append(await schedule(work, client, seed))
    return found


async def schedule(work: Work, client: Client, seed: int) -> str:
    """Return the digest of what happens in which order."""
    events: list[str] = []
    recorder = Recorder()
    began = trio.current_time()

    def note(event: str) -> None:
        events.append(f"{event}@{trio.current_time() - began:.6f}")

    await trio.testing.wait_all_tasks_blocked()
    with repeatable(seed):
        trio.lowlevel.add_instrument(recorder)
        try:
            await work(client, note)
            await trio.testing.wait_all_tasks_blocked()
        finally:
            trio.lowlevel.remove_instrument(recorder)
    assert events, work.__name__
    if "-v" in sys.argv:
        print(work.__name__, seed, *events, *recorder.steps, sep="\n", file=sys.stderr)
    return hashlib.sha256("\n".join([*events, *recorder.steps]).encode()).hexdigest()[:16]


if __name__ == "__main__":
    logging.disable()
    clock = MockClock(autojump_threshold=0)
    with repeatable():  # the app is opened in the same way, too
        result = trio.run(main, int(sys.argv[1]), clock=clock)
    print(json.dumps(result))
