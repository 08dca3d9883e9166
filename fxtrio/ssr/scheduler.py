"""Assigns renders to workers, and reassigns the renders of a worker that ends.

Nothing here waits. Called by `fxtrio.ssr.pool` with new renders, by
workers that have room, and by `fxtrio.ssr.worker_group` with workers that start and end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec
import trio

from fxtrio.ssr.errors import RenderCrashed, RenderError, RenderTimeout, SsrBusy, SsrDown
from fxtrio.ssr.frames import check_payload
from fxtrio.ssr.quarantine import Quarantine
from fxtrio.ssr.render_worker import RenderWorker
from fxtrio.ssr.renders import AnyRender, DocumentRender, StreamRender
from fxtrio.ssr.statistics import Costs, Counters

FILL: Final = 1_000.0
"""Work that a worker gets before the next one is used (microseconds).

Spreading requests evenly instead breaks the batches that make an exchange cheap.
"""

MOST: Final = 20_000.0
"""Work above which a worker gets no more (microseconds): the rest waits in the pool,
where it can still be taken back and where the death of a worker does not touch it."""


class Death(msgspec.Struct, frozen=True):
    """The unexpected end of a worker."""

    cause: str
    """Completes "the worker ...", for example "exited with code 3"."""

    hung: bool
    """Whether it was killed because it did not respond."""


class Scheduler:
    """The renders of a pool, and its workers. Holds at most ``max_pending`` renders."""

    def __init__(self, max_pending: int, timeout: float) -> None:
        self.max_pending = max_pending
        self.timeout = timeout
        """Longest render (seconds); only for the error that names it."""

        self.costs = Costs()
        self.counters = Counters()

        self.down = ""
        """Why no worker is to be expected; empty as long as one is."""

        self.workers: list[RenderWorker] = []
        """Those that take any render."""

        self._quarantine = Quarantine()
        self._queue: deque[AnyRender] = deque()
        self._suspects: deque[DocumentRender] = deque()

    @property
    def waiting(self) -> int:
        """How many renders no worker has (count)."""
        return len(self._queue) + len(self._suspects)

    def admit(self, render: AnyRender) -> None:
        """Accept a new render: send it to a worker, or queue it until one has room.

        Raises SsrBusy when ``max_pending`` renders are unfinished, SsrDown when no worker is
        expected, FrameSizeInvalid when the payload does not fit into a frame, and at once the
        previous error when the same render has recently crashed two workers.
        """
        counters = self.counters
        if self.down:
            raise SsrDown(self.down)
        if counters.pending >= self.max_pending:
            counters.refused += 1
            raise SsrBusy(counters.pending, self._retry_after())
        check_payload(render.payload)
        error = self._find_quarantined(render)
        if error is not None:
            raise error
        counters.pending += 1
        worker = None if self._queue else self._pick()  # nobody overtakes those that wait
        if worker is None:
            self._queue.append(render)
        else:
            worker.begin(render)

    def forget(self, render: AnyRender) -> None:
        """Drop an abandoned render, unless a worker has it.

        A worker finishes its renders; the reply is then ignored.
        """
        if render.placed:
            return
        for waiting in (self._queue, self._suspects):
            if render in waiting:
                waiting.remove(render)  # type: ignore[arg-type]  # it is in there
                self.counters.pending -= 1

    def worker_ready(self, worker: RenderWorker) -> None:
        """Use a worker that has nothing to do: for one suspicious render, or for all others."""
        if worker.retired:
            return
        # Before all others: only a worker without renders can take one, and a busy pool has no
        # other moment when a worker has none.
        while self._suspects:
            render = self._suspects.popleft()
            if not self._fail_quarantined(render):
                worker.alone = True
                worker.begin(render)
                return
        worker.alone = False
        self.workers.append(worker)
        self._pump()

    def worker_has_room(self, worker: RenderWorker) -> None:
        """Continue after a worker has replied."""
        if worker.alone:
            if not worker.pending:
                self.worker_ready(worker)
        elif self._queue:
            self._pump()

    def worker_ended(self, worker: RenderWorker, death: Death | None) -> None:
        """Take back the renders of a worker that ended; ``death`` is None for an expected end.

        A worker renders in order, and has left a mark of its current render: that one is
        suspected. It gets a second attempt in a new worker, alone, and fails if that one
        dies too. After a hang the cause is certain, and it fails at once. All others
        restart, before those that have waited in the pool so far.
        """
        worker.retired = True
        if worker in self.workers:
            self.workers.remove(worker)
        mark = worker.node.read_mark()
        left = worker.close()
        blamed = next((render for id, render in left if id == mark), None)
        innocent: list[AnyRender] = []
        for _, render in left:
            render.placed = False
            suspected = death is not None and (
                render is blamed or (blamed is None and isinstance(render, StreamRender))
            )
            render.strikes += suspected
            if render.abandoned:
                self.counters.pending -= 1
            elif self._is_lost(render, suspected, death):
                self._fail(render, suspected, death)
            elif suspected and isinstance(render, DocumentRender):
                self._suspects.append(render)
            else:
                innocent.append(render)
        self.counters.retried += len(innocent)
        self._queue.extendleft(reversed(innocent))
        if self.down:
            self.fail_waiting()
        else:
            self._pump()

    def fail_waiting(self) -> None:
        """Fail all renders that no worker has, with the reason in `down`."""
        for waiting in (self._queue, self._suspects):
            while waiting:
                self.counters.pending -= 1
                waiting.popleft().fail(SsrDown(self.down))

    def _is_lost(self, render: AnyRender, suspected: bool, death: Death | None) -> bool:
        """Return whether a render of a worker that ended must not or cannot be restarted.

        A stream is never retried alone, since it may wait for data for long; so unless a
        render is known to have been running, every open stream is suspected.
        """
        if isinstance(render, StreamRender):
            render.worker = None
            return render.opened or render.strikes > 1
        certain = death is not None and death.hung
        return suspected and (certain or render.strikes > 1)

    def _fail(self, render: AnyRender, suspected: bool, death: Death | None) -> None:
        counters = self.counters
        counters.pending -= 1
        if death is None:
            render.fail(SsrDown(self.down))
            return
        make_error: Callable[[], RenderError]
        if death.hung and suspected:
            counters.timeouts += 1
            make_error = partial(RenderTimeout, render.page, self.timeout)
        else:
            counters.crashes += 1
            make_error = partial(RenderCrashed, render.page, death.cause)
        # Whether a stream caused it is never certain.
        if suspected and isinstance(render, DocumentRender):
            now = trio.current_time()
            self._quarantine.add(render.page, render.payload, render.strikes, make_error, now)
        render.fail(make_error())

    def _pick(self) -> RenderWorker | None:
        """Return the first worker with little to do, else the one with the least."""
        best, least = None, MOST
        for worker in self.workers:
            load = worker.load
            if load < least and not worker.congested:
                if load < FILL:
                    return worker
                best, least = worker, load
        return best

    def _pump(self) -> None:
        while self._queue:
            worker = self._pick()
            if worker is None:
                return
            render = self._queue.popleft()
            if not self._fail_quarantined(render):
                worker.begin(render)

    def _fail_quarantined(self, render: AnyRender) -> bool:
        """Fail a waiting render if the same render has meanwhile crashed enough workers."""
        error = self._find_quarantined(render)
        if error is not None:
            self.counters.pending -= 1
            render.fail(error)
        return error is not None

    def _find_quarantined(self, render: AnyRender) -> RenderError | None:
        if not self._quarantine:  # nearly always: the payload, which may be large, is not hashed
            return None
        return self._quarantine.find(render.page, render.payload, trio.current_time())

    def _retry_after(self) -> float:
        """Return the time in which about all pending renders are done (seconds)."""
        work = sum(worker.load for worker in self.workers)
        work += sum(self.costs.of(render.page) for render in self._queue)
        return max(1.0, round(work / 1e6 / max(1, len(self.workers))))
