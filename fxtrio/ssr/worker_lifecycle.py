"""The life of one worker, from the start of its process to its end.

`run_worker` owns every task around the process. Called by `fxtrio.ssr.worker_group`, which
replaces workers that end.
"""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Final

import msgspec
import trio

from fxtrio.ssr.attached_renderer import AttachedNode, Attachment, open_attached
from fxtrio.ssr.errors import SsrStartFailed
from fxtrio.ssr.process.launch import Launch
from fxtrio.ssr.process.logs import FLOOD_BURST, TAIL_LINES, read_log
from fxtrio.ssr.process.node_process import NodeProcess, open_node
from fxtrio.ssr.render_worker import RenderWorker
from fxtrio.ssr.scheduler import Death, Scheduler

START_TIMEOUT: Final = 20.0
"""Longest time between the start of a process and its READY (seconds)."""

TICKS: Final = 10
"""Looks of the watchdog within one timeout."""

EXIT_WAIT: Final = 1.0
"""Longest wait for the end of a process that has closed its socket (seconds)."""

LOG_WAIT: Final = 0.25
"""Longest wait for the rest of the output of a process that has ended (seconds).

A pipe stays open when page code has started processes that outlive the worker.
"""


class WorkerExit(msgspec.Struct, frozen=True, kw_only=True):
    """The exit of a worker."""

    pid: int
    death: Death
    ready: bool
    """Whether it had loaded its bundle."""

    seconds: float
    """How long it lived."""

    tail: tuple[str, ...]
    """The last lines that it wrote."""


async def run_worker(
    launch: Launch | Attachment,
    *,
    scheduler: Scheduler,
    timeout: float,
    on_ready: Callable[[RenderWorker], None],
) -> WorkerExit:
    """Run one worker until its process ends, and give its renders back then.

    ``on_ready`` is called once it has loaded its bundle. Cancelling ends the process.
    Raises SsrStartFailed when Node cannot be started.
    """
    started = time.monotonic()
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    opened: AbstractAsyncContextManager[NodeProcess | AttachedNode]
    opened = open_attached(launch) if isinstance(launch, Attachment) else open_node(launch)
    async with opened as node:
        worker = RenderWorker(node, scheduler)
        death: Death | None = None
        try:
            # Around all else: what a process writes last explains its end, and is read after it.
            async with trio.open_nursery() as logs:
                _start_log_readers(logs, node, worker, tail)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(worker.write)
                    nursery.start_soon(_announce, worker, on_ready)
                    nursery.start_soon(watch, worker, timeout)
                    await worker.read()
                    nursery.cancel_scope.cancel("the worker has ended")
                with trio.move_on_after(EXIT_WAIT):
                    await node.wait()
                logs.cancel_scope.deadline = trio.current_time() + LOG_WAIT
            # The cause on this side comes first: a killed process has nothing but a signal to say.
            death = Death(worker.cause or describe_exit(node.returncode), worker.hung)
        finally:  # after a cancellation, too: its renders would wait for a reply for ever
            scheduler.worker_ended(worker, death)
    return WorkerExit(
        pid=node.pid,
        death=death,
        ready=worker.ready.is_set(),
        seconds=time.monotonic() - started,
        tail=tuple(tail),
    )


async def _announce(worker: RenderWorker, on_ready: Callable[[RenderWorker], None]) -> None:
    """Report that the worker is ready, or end it when that takes too long."""
    with trio.move_on_after(START_TIMEOUT):
        await worker.ready.wait()
        on_ready(worker)
        return
    worker.kill(f"was not ready within {START_TIMEOUT:g} s")


async def watch(worker: RenderWorker, timeout: float) -> None:
    """Kill a worker that is silent for ``timeout`` seconds while it has work.

    Every reply and every PONG is a sign of life, and replies come in the order of the
    work, so the time is that of one render: waiting behind others does not count. Looks
    are counted as well as seconds, so that a moment in which this process was held up
    is not held against the worker.
    """
    heard, silent_looks, since = -1, 0, 0.0
    while True:
        await trio.sleep(timeout / TICKS)
        if worker.heard != heard or not worker.pending:
            heard, silent_looks, since = worker.heard, 0, time.monotonic()
            continue
        silent_looks += 1
        worker.ping()
        if silent_looks > TICKS and time.monotonic() - since >= timeout:
            worker.kill(f"did not answer for {timeout:g} s", hung=True)


def start_error(launch: Launch | Attachment, worker_exit: WorkerExit) -> SsrStartFailed:
    """Return the error that says why a worker did not start."""
    return SsrStartFailed(launch.bundle, worker_exit.death.cause, "\n".join(worker_exit.tail))


def _start_log_readers(
    nursery: trio.Nursery, node: NodeProcess | AttachedNode, worker: RenderWorker, tail: deque[str]
) -> None:
    """Give each pipe a reader: a process stops once a full pipe has none."""
    for stream, level in node.logs:
        cause = f"wrote more than {FLOOD_BURST // 1024 // 1024} MiB at once to its log"
        flooded = partial(worker.kill, cause)
        read = partial(read_log, level=level, pid=node.pid, tail=tail, on_flood=flooded)
        nursery.start_soon(read, stream)


def describe_exit(returncode: int | None) -> str:
    """Return what completes "the worker ..."."""
    if returncode is None:
        return "closed its connection"
    if returncode >= 0:
        return f"exited with code {returncode}"
    return f"was killed by {signal.Signals(-returncode).name}"
