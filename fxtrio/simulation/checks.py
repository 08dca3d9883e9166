"""What holds at the end of each run, for every app."""

from __future__ import annotations

import logging
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import trio

from fxtrio.send_budget import process_unsent
from fxtrio.simulation.accepted_jobs import AcceptedJobs, StoredJob, read_jobs
from fxtrio.simulation.bounds import Bounds
from fxtrio.simulation.ledger import read_committed
from fxtrio.simulation.servers.connection import Connection, describe
from fxtrio.simulation.servers.process import Process

_OWN_TASKS = frozenset({"<init>", "entry_queue_task", "task"})
_TRIOS = ("trio._", "<TrioToken")
_TASKS, _JOBS = "fx.tasks", "fx.jobs"
_DESCRIPTORS = "/dev/fd"
_PATIENCE = 60.0
"""How long a durable job may be due while a worker is free (seconds): housekeeping may be slow."""

_DROPPED = re.compile(r"\((\d+)\)")


class InvariantBroken(AssertionError):
    """Something does not hold that holds for every app. The message says what."""


def check(
    processes: Sequence[Process],
    records: Sequence[logging.LogRecord],
    file: Path,
    before: Counter[str],
    bounds: Bounds,
    accepted: AcceptedJobs,
) -> None:
    """Look at what processes have left behind. Raises InvariantBroken.

    ``before`` are the `open_files` of the beginning, ``accepted`` the durable jobs.
    """
    found = [
        *_tasks(),
        *_files(before),
        *(problem for process in processes for problem in _process(process)),
        *bounds.exceeded.values(),
        *_jobs(processes, records),
        *_durable_jobs(accepted, records, file),
        *_transactions(processes, file),
    ]
    if found:
        raise InvariantBroken("\n".join(found))


def _tasks() -> Iterable[str]:
    """No task outlives what began it."""
    root = trio.lowlevel.current_root_task()
    assert root is not None
    for nursery in root.child_nurseries:
        for task in nursery.child_tasks:
            if task is not trio.lowlevel.current_task() and not _is_trios(task):
                yield f"The task {task.name} is still running after the shutdown."


def open_files() -> Counter[str]:
    """Return the files on disk that this process has open; none on Windows."""
    names = Counter[str]()
    with suppress(OSError):
        for descriptor in os.listdir(_DESCRIPTORS):  # noqa: PTH208 - a path costs four times as much
            with suppress(OSError):  # that of the list itself
                names[os.readlink(f"{_DESCRIPTORS}/{descriptor}")] += 1  # noqa: PTH115 - too
    return Counter({name: count for name, count in names.items() if name.startswith(os.sep)})


def _files(before: Counter[str]) -> Iterable[str]:
    """Each file that was opened is closed."""
    for name in open_files() - before:
        yield f"The file {name} is left open after the shutdown."


def _is_trios(task: trio.lowlevel.Task) -> bool:
    return task.name.rpartition(".")[2] in _OWN_TASKS or task.name.startswith(_TRIOS)


def _process(process: Process) -> Iterable[str]:
    """Each response has one status and an end; connections and subscriptions have ended."""
    for connection in process.finished:
        yield from _connection(connection)
    yield from _budgets(process)
    if process.killed:
        return
    for database in process.databases:
        with suppress(sqlite3.ProgrammingError):  # it is closed
            database.execute("select 1")
            yield f"{process.name} has left a connection to its database open."
    statistics = getattr(process.handle.broker, "statistics", None)
    if statistics is not None and (statistics().subscriptions or statistics().channels):
        yield f"Subscriptions are left after the shutdown: {statistics()}."


def _budgets(process: Process) -> Iterable[str]:
    """What was counted in is counted out: bytes of bodies and messages, and streams."""
    running = process.running
    if running is not None and running.bodies.used:
        yield f"{process.name} counts {running.bodies.used} bytes of bodies after its end."
    if running is not None and len(running.streams):
        yield f"{process.name} counts {len(running.streams)} open streams after its end."
    if process_unsent.used:
        yield f"{process_unsent.used} bytes of messages count as unsent after the shutdown."


def _connection(connection: Connection) -> Iterable[str]:
    name = describe(connection)
    if connection.killed:
        return
    if connection.failure is not None:
        yield f"{name} left the app with {connection.failure!r}."
    if connection.scope["type"] != "http":
        return
    if len(connection.statuses) > 1:
        yield f"{name} was answered with several statuses: {connection.statuses}."
    elif connection.cut_short:
        yield f"{name} was answered with a response that has no end."


def _jobs(processes: Sequence[Process], records: Sequence[logging.LogRecord]) -> Iterable[str]:
    """Each job that `enqueue` accepted ran, or is named in the log."""
    named = sum(_named(record) for record in records if record.name == _TASKS)
    unfinished = 0
    for process in processes:
        statistics = process.handle.tasks.statistics()
        if process.killed:
            continue
        if statistics.waiting or statistics.running:
            yield f"{process.name} has shut down with jobs: {statistics}."
        unfinished += statistics.failed + statistics.cancelled
    if named < unfinished:
        yield f"{unfinished} jobs failed or were cancelled, and {named} of them are in the log."


def _named(record: logging.LogRecord) -> int:
    message = record.getMessage()
    if message.startswith("Dropped at shutdown"):
        return sum(int(count) for count in _DROPPED.findall(message))
    return message.startswith("Job ")


def _durable_jobs(
    accepted: AcceptedJobs, records: Sequence[logging.LogRecord], file: Path
) -> Iterable[str]:
    """Each durable job that was accepted ran, waits for its time, or is named in the log."""
    jobs = read_jobs(file) if accepted.names else {}
    messages = [record.getMessage() for record in records if record.name == _JOBS]
    for number, name in accepted.names.items():
        stored, job = jobs.get(number), f"Job {name} ({number})"
        if stored is None:
            yield f"{job} was accepted, and is not in the database."
        elif stored.state == "failed" and not any(text.startswith(job) for text in messages):
            yield f"{job} has failed, and is not in the log."
        elif (waited := _waited(stored, accepted.ready)) > _PATIENCE:
            yield f"{job} has waited for {waited:.0f} s, while a process had a free worker."


def _waited(stored: StoredJob, ready: tuple[float, float] | None) -> float:
    """Return how long a job was due and could have run (seconds)."""
    if stored.state != "waiting" or stored.paused or ready is None:
        return 0.0
    return ready[1] - max(stored.due, ready[0])


def _transactions(processes: Sequence[Process], file: Path) -> Iterable[str]:
    """What succeeded is in the database, and what failed is not."""
    answered = [
        connection
        for process in processes
        for connection in process.finished
        if connection.transactional and connection.ended and connection.statuses
    ]
    committed = read_committed(file) if answered else set()
    for connection in answered:
        name, status = describe(connection), connection.statuses[0]
        if status < 400 and connection.number not in committed:
            yield f"{name} was answered with {status}, and its transaction is not in the database."
        if status >= 400 and connection.number in committed:
            yield f"{name} was answered with {status}, and its transaction is in the database."
