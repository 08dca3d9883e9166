"""Looks between two steps of a run whether what its processes hold is within its bounds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import attrs

from fxtrio.realtime.send_buffer import Outbox
from fxtrio.realtime.subscriptions import Topics
from fxtrio.serve.event_streams.open_streams import OpenStreams
from fxtrio.serve.request.bodies.spool import Bodies
from fxtrio.simulation.servers.process import Process
from fxtrio.tasks.queue import TaskQueue

_NO_TOPICS = Topics()
"""Those of a broker of another kind."""


@attrs.define(eq=False)
class _Queues:
    """What one process holds."""

    name: str
    bodies: Bodies
    streams: OpenStreams
    open_streams: Collection[object]
    """That of ``streams``, which is cheaper to ask; the same of ``topics``."""

    tasks: TaskQueue
    topics: Mapping[str, Any]
    taken: int = 0
    """How many jobs the queue had taken at the last look: only another one makes it longer."""


@attrs.define(eq=False)
class Bounds:
    """The bounds of a run's processes."""

    processes: Sequence[Process] = ()
    exceeded: dict[tuple[str, str], str] = attrs.field(factory=dict)
    """What was exceeded first, by process and queue."""

    _queues: dict[Process, _Queues] = attrs.field(factory=dict)

    def look(self) -> None:
        """Compare what each process holds now with what it may hold: cheaply, at each step."""
        for process in self.processes:
            if process.accepts:
                held = self._queues.get(process)
                if held is None:
                    held = self._queues[process] = _queues_of(process)
                bodies, streams = held.bodies, held.open_streams
                if bodies.used > bodies.capacity:
                    self._note(held, "the bytes of bodies", bodies.used, bodies.capacity)
                if streams and len(streams) > held.streams.capacity:
                    self._note(held, "the open streams", len(streams), held.streams.capacity)
                if held.tasks.taken != held.taken:
                    self._compare_jobs(held)
                if held.topics:
                    self._compare_outboxes(held)

    def _compare_jobs(self, held: _Queues) -> None:
        tasks = held.tasks
        held.taken = tasks.taken
        if (waiting := tasks.waiting) > tasks.capacity:
            self._note(held, "the jobs that wait", waiting, tasks.capacity)

    def _compare_outboxes(self, held: _Queues) -> None:
        for name, topic in held.topics.items():
            for subscriber in topic.subscribers:
                # Which takes one more than fits.
                if isinstance(subscriber, Outbox) and subscriber.waiting > subscriber.capacity + 1:
                    queue = f"the messages for a member of {name!r}"
                    self._note(held, queue, subscriber.waiting, subscriber.capacity + 1)

    def _note(self, held: _Queues, queue: str, used: int, most: int) -> None:
        text = f"{held.name}: {queue} are {used}, and may be {most} at most."
        self.exceeded.setdefault((held.name, queue), text)


def _queues_of(process: Process) -> _Queues:
    running, handle = process.running, process.handle
    assert running is not None
    topics: Topics = getattr(handle.broker, "_topics", _NO_TOPICS)
    streams = running.streams
    return _Queues(
        *(process.name, running.bodies, streams, streams._open),
        *(handle.tasks, topics._topics),
    )
