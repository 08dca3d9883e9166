"""Runs a number of worker processes that serve on the same sockets.

A worker that dies is replaced, at once the first time and after a growing pause if it
happens repeatedly. In a planned replacement (SIGHUP, or a worker that has served its share
of requests) the new worker is ready before the old one stops, so that no connection is
refused.
"""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from random import randint
from socket import socket

import trio
from msgspec.structs import replace

from fxtrio.log import open_log
from fxtrio.server.supervise.hypercorn_config import make_config
from fxtrio.server.supervise.options import ServeOptions
from fxtrio.server.supervise.server_process import FAILED, FORCED, report_failure
from fxtrio.server.supervise.signals import hangup_is_ignored, hold_signals, receive_signals
from fxtrio.server.supervise.systemd import notify, notify_reloading
from fxtrio.server.supervise.worker_process import WorkerProcess, first_of

_TRIES = 3
"""Failed starts in a row, of one worker, after which the supervisor gives up if none has served.

A worker that was killed from outside does not count: on a busy machine a slow start may be
killed. Once all have served, the cause of a failure is an outage, such as of the database,
which will end.
"""

_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 5.0

_STEADY = 2.0
"""Seconds of service after which a death counts as the first."""

_MARGIN = 2.0
"""Seconds for a worker to exit on its own after its own limit has passed."""


class Supervisor:
    """Runs the workers of one ``fx serve --workers N``. Closes ``sockets`` when it stops."""

    def __init__(self, options: ServeOptions, sockets: list[socket]) -> None:
        self._options = options
        self._sockets = sockets
        open_log(options.log_format, options.log_level)
        self._config = make_config(options)
        self._workers: dict[int, WorkerProcess] = {}  # the current one of each number
        self._alive: set[WorkerProcess] = set()
        self._complete = trio.Event()  # every number has had a worker that serves
        self._replacing = trio.Event()
        self._stopping = trio.Event()
        self._code = 0

    async def run(self) -> int:
        """Keep the workers until a signal; return the exit code."""
        with receive_signals(hold_signals()) as signals:
            async with trio.open_nursery() as tasks:
                async with trio.open_nursery() as processes:
                    tasks.start_soon(self._obey, signals, processes.cancel_scope)
                    tasks.start_soon(self._limit_shutdown, processes.cancel_scope)
                    tasks.start_soon(self._name_workers)
                    tasks.start_soon(self._close_sockets)
                    tasks.start_soon(self._replace_on_request)
                    async with trio.open_nursery() as numbers:
                        for number in range(self._options.workers):
                            numbers.start_soon(self._keep, number, processes)
                        tasks.start_soon(self._announce)
                tasks.cancel_scope.cancel()
        return self._code

    async def _keep(self, number: int, processes: trio.Nursery) -> None:
        """Have a worker of this number until the end."""
        deaths = 0
        worker = await self._start(number, processes)
        while worker is not None:
            await first_of(worker.exited, worker.wanted, self._stopping)
            if self._stopping.is_set():
                return
            if worker.exited.is_set():
                await self._config.log.error("Worker %d: %s", number, worker.fate)
                lived = trio.current_time() - worker.ready_at
                deaths = 1 if lived > _STEADY else deaths + 1
                if deaths > 1:
                    await self._pause(deaths - 1)
                worker = await self._start(number, processes)
            else:
                worker = await self._succeed(worker, processes)

    async def _start(self, number: int, processes: trio.Nursery) -> WorkerProcess | None:
        """Return a worker that serves; None if the shutdown came first."""
        tries = pauses = 0
        while not self._stopping.is_set():
            worker = self._spawn(number, processes)
            if await worker.wait_ready():
                self._workers[number] = worker
                if len(self._workers) == self._options.workers:
                    self._complete.set()
                return worker
            if self._stopping.is_set():
                break
            tries = tries if worker.was_killed else tries + 1
            pauses += 1
            if worker.start_error and not self._complete.is_set() and not self._somebody_serves():
                self._code = report_failure(self._options, worker.start_error, plain=True)
                self._stop()
                break
            before = "" if worker.start_error else " before it served"
            await self._config.log.error("Worker %d: %s%s", number, worker.fate, before)
            if tries >= _TRIES and not self._complete.is_set() and not self._somebody_serves():
                await self._config.log.critical(
                    "Worker %d failed to start %d times in a row: giving up", number, tries
                )
                self._code = FAILED
                self._stop()
            else:
                await self._pause(pauses)
        return None

    def _somebody_serves(self) -> bool:
        return any(worker.serves for worker in self._workers.values())

    async def _succeed(self, worker: WorkerProcess, processes: trio.Nursery) -> WorkerProcess:
        """Replace a serving worker by a new one; return the worker that serves now."""
        if worker.spent:
            await self._config.log.info(
                "Worker %d has handled its %d requests and is replaced",
                worker.number,
                worker.share or 0,
            )
        successor = self._spawn(worker.number, processes)
        if await successor.wait_ready():
            self._workers[worker.number] = successor
            worker.signal(signal.SIGTERM)
            worker.settled.set()
            return successor
        if not self._stopping.is_set():
            await self._config.log.error(
                "Worker %d: its successor failed (%s); it keeps running",
                worker.number,
                successor.fate,
            )
            await self._pause(_TRIES)
        worker.wanted, settled = trio.Event(), worker.settled
        worker.settled = trio.Event()
        settled.set()
        return worker

    def _spawn(self, number: int, processes: trio.Nursery) -> WorkerProcess:
        share = self._options.max_requests
        if share is not None:
            share += randint(0, self._options.max_requests_jitter)
        worker = WorkerProcess(number, share)
        self._alive.add(worker)
        processes.start_soon(self._run, worker)
        return worker

    async def _run(self, worker: WorkerProcess) -> None:
        try:
            options = replace(self._options, max_requests=worker.share)
            await worker.run(options, self._sockets)
        finally:
            self._alive.discard(worker)
        if self._stopping.is_set() and worker.ready.is_set() and worker.code != 0:
            await self._config.log.error("Worker %d: %s", worker.number, worker.fate)
            self._code = FAILED

    async def _pause(self, times: int) -> None:
        with trio.move_on_after(min(_FIRST_PAUSE * 2 ** (times - 1), _LONGEST_PAUSE)):
            await self._stopping.wait()

    async def _obey(self, signals: AsyncIterator[int], processes: trio.CancelScope) -> None:
        async for number in signals:
            name = signal.Signals(number).name
            if number == signal.SIGHUP and not self._stopping.is_set():
                await self._config.log.info("Replacing the workers on %s", name)
                self._replacing.set()
            elif not self._stopping.is_set():
                await self._config.log.info("Stopping on %s", name)
                self._stop()
            elif number == signal.SIGINT:
                self._code = FORCED
                processes.cancel()

    async def _name_workers(self) -> None:
        """Log the processes that have trees of tasks, when this one is sent SIGUSR2."""
        with trio.open_signal_receiver(signal.SIGUSR2) as signals:
            async for _ in signals:
                pids = sorted(worker.pid for worker in self._alive if worker.pid is not None)
                await self._config.log.info(
                    "The supervisor has no tree of tasks. Send SIGUSR2 to a worker process: %s",
                    ", ".join(map(str, pids)) or "none has started yet",
                )

    async def _replace_on_request(self) -> None:
        await self._complete.wait()
        while True:
            await self._replacing.wait()
            self._replacing = trio.Event()
            await self._replace_all()

    async def _replace_all(self) -> None:
        """Replace one worker after the other."""
        notify_reloading()
        for number in range(self._options.workers):
            worker = self._workers.get(number)
            if worker is not None and not worker.exited.is_set():
                worker.wanted.set()
                await first_of(worker.settled, worker.exited, self._stopping)
        if not self._stopping.is_set():
            notify("READY=1")

    async def _announce(self) -> None:
        """Say that all workers serve, for the first time."""
        await self._complete.wait()
        notify("READY=1")
        await self._config.log.info("%d workers serve", self._options.workers)
        if hangup_is_ignored():  # else a deployment would seem to go well, and change nothing
            await self._config.log.warning(
                "SIGHUP is ignored, as under nohup: it replaces no workers. "
                "Start with setsid instead of nohup, or from a service manager"
            )

    async def _close_sockets(self) -> None:
        """Close the supervisor's sockets, so that the workers close them last."""
        await self._stopping.wait()
        for worker in tuple(self._alive):
            await worker.started.wait()
        for listening in self._sockets:
            listening.close()

    async def _limit_shutdown(self, processes: trio.CancelScope) -> None:
        await self._stopping.wait()
        await trio.sleep(self._options.shutdown + _MARGIN)
        await self._config.log.critical("Killing workers that do not exit")
        self._code = FAILED
        processes.cancel()

    def _stop(self) -> None:
        self._stopping.set()
        notify("STOPPING=1")
        for worker in self._alive:
            worker.signal(signal.SIGTERM)
