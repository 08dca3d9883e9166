"""Looks between two steps of a run whether what its processes hold is within its bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from fxtrio.realtime.send_buffer import Outbox
from fxtrio.realtime.subscriptions import Topics
from fxtrio.simulation.servers.process import Process

_NO_TOPICS = Topics()
"""Those of a broker of another kind."""


@attrs.define(eq=False)
class Bounds:
    """The bounds of a run's processes."""

    processes: Sequence[Process] = ()
    exceeded: dict[tuple[str, str], str] = attrs.field(factory=dict)
    """What was exceeded first, by process and queue."""

    def look(self) -> None:
        """Compare what each process holds now with what it may hold."""
        for process in self.processes:
            if process.accepts:
                for name, used, most in _queues(process):
                    if used > most:
                        text = f"{process.name}: {name} are {used}, and may be {most} at most."
                        self.exceeded.setdefault((process.name, name), text)


def _queues(process: Process) -> Iterable[tuple[str, int, int]]:
    """Return the name of each queue, what it holds, and what it may hold."""
    running = process.running
    assert running is not None
    yield "the bytes of bodies", running.bodies.used, running.bodies.capacity
    yield "the open streams", len(running.streams), running.streams.capacity
    tasks = process.handle.tasks
    yield "the jobs that wait", tasks.waiting, tasks.capacity
    topics: Topics = getattr(process.handle.broker, "_topics", _NO_TOPICS)
    for name in topics.names():
        for subscriber in topics.subscribers(name):
            if isinstance(subscriber, Outbox):  # which takes one more than fits
                outbox = f"the messages for a member of {name!r}"
                yield outbox, subscriber.waiting, subscriber.capacity + 1
