"""One process of the app: it starts, serves connections, and is shut down or killed."""

from __future__ import annotations

import sqlite3
from contextvars import Context, ContextVar, copy_context
from functools import partial
from pathlib import Path

import attrs
import trio
from trio.lowlevel import Task

from fxtrio.app_handle import App
from fxtrio.application import Application
from fxtrio.serve.pages.resources import Running
from fxtrio.simulation.ledger import answering
from fxtrio.simulation.servers.connection import Connection, describe
from fxtrio.simulation.servers.prepared_app import PreparedApp

current_process: ContextVar[Process | None] = ContextVar("fx-simulated-process", default=None)
"""The process that the running code belongs to; None for that of the test."""

GRACE = 10.0
"""How long a shutdown waits for requests (seconds)."""


def is_frozen(task: Task) -> bool:
    """Whether a task belongs to a process that was killed."""
    process = task.context.get(current_process)
    return process is not None and process.killed


@attrs.define(eq=False)
class Process:
    """A process of the app. `run` must be running."""

    name: str
    _prepared: PreparedApp
    _folder: Path
    killed: bool = False
    """Whether it was killed: none of its tasks runs any more."""

    accepts: bool = False
    """Whether it takes new connections."""

    began: float = 0.0
    """When it did so first (seconds since the run began)."""

    ended: trio.Event = attrs.field(factory=trio.Event)
    """It was killed, or has ended."""

    shared: bool = False
    """Whether there are other processes, which it reaches over a store."""

    databases: list[sqlite3.Connection] = attrs.field(factory=list)
    """The connections to the database that it has opened."""

    connections: dict[Connection, None] = attrs.field(factory=dict)
    """Those that are open."""

    finished: list[Connection] = attrs.field(factory=list)
    """Those that the app has returned from."""

    app: Application | None = None
    running: Running | None = None
    """What requests were served with."""

    _scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    _stop: trio.Event = attrs.field(factory=trio.Event)
    _exited: trio.Event = attrs.field(factory=trio.Event)
    _nursery: trio.Nursery | None = None
    _context: Context | None = None
    """Of its tasks, which says that they belong to it."""

    @property
    def handle(self) -> App:
        """The running app."""
        assert self.app is not None
        handle: App = self.app.state.fx
        return handle

    @property
    def has_free_worker(self) -> bool:
        """Whether it would run a durable job of any queue now."""
        jobs = self.handle.jobs
        if jobs is None or not self.accepts or jobs.queues:
            return False
        return jobs.statistics().running < jobs.workers

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run until `shut_down` or `kill`."""
        current_process.set(self)
        try:
            with self._scope:
                await self._serve(task_status)
        except BaseException:
            if not self.killed:
                raise
        finally:
            self.accepts = False
            for connection in tuple(self.connections):  # which nobody took any more
                connection.cut()
            self.connections.clear()
            self.ended.set()
            self._exited.set()

    async def shut_down(self) -> None:
        """Stop as a server does: accept no request, finish the running ones, close."""
        self.stop_intake()
        self._stop.set()
        await self.ended.wait()

    def stop_intake(self) -> None:
        """Take no new connections."""
        if self.app is not None and self.accepts:
            self.accepts = False
            self.app.begin_shutdown()

    def kill(self) -> None:
        """Stop between two steps. Nothing is cleaned up; its transactions are never committed."""
        self.killed, self.accepts = True, False
        for database in self.databases:
            database.close()  # what the kernel does: it has the file's locks no more
        for connection in self.connections:
            connection.cut()
        self.ended.set()

    async def discard(self) -> None:
        """Let the tasks of a killed process end, once that can harm nobody."""
        self._scope.cancel()
        await self._exited.wait()

    def open(self, connection: Connection) -> None:
        """Take a connection."""
        assert self._nursery is not None
        assert self._context is not None
        self.connections[connection] = None
        # A task begins in the context of the one that starts it, which here is the client's.
        start, name = self._nursery.start_soon, describe(connection)
        self._context.run(partial(start, self._answer, connection, name=name))

    async def _serve(self, task_status: trio.TaskStatus[None]) -> None:
        app = self.app = self._prepared.make_app(self._folder, shared=self.shared)
        async with app.router.lifespan_context(app):
            self.running = app.lifetime.running
            async with trio.open_nursery() as nursery:
                self._nursery, self._context = nursery, copy_context()
                task_status.started()
                self.accepts, self.began = True, trio.current_time()
                await self._stop.wait()
                nursery.cancel_scope.deadline = trio.current_time() + GRACE

    async def _answer(self, connection: Connection) -> None:
        if self._stop.is_set():  # a server that stops takes nothing more from its backlog
            return
        assert self.app is not None
        answering.set(connection)
        try:
            await self.app(connection.scope, connection.receive, connection.send)
            if self.accepts:  # a shutdown may cut a stream whose reader is slow
                connection.check_end()
        except Exception as error:  # as a server does, which serves on
            connection.failure = error
        finally:
            connection.close()
            self.connections.pop(connection, None)
            self.finished.append(connection)
