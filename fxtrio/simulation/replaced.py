"""What a run puts in place of the machine, of the shared store, and of the log."""

from __future__ import annotations

import builtins
import gc
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from types import CodeType
from typing import Any

import attr._make
import cattrs.gen

from fxtrio import application, process_identity
from fxtrio.db.sqlite import engine as sqlite_engine
from fxtrio.jobs import discovery
from fxtrio.send_budget.budget import process_unsent
from fxtrio.send_budget.loop_clock import LoopClock
from fxtrio.simulation.ledger import recording
from fxtrio.simulation.servers.process import current_process
from fxtrio.simulation.servers.store import MessageStore

_NONE = object()
_LOOK = 5.0
"""Between two looks of a process whether another one has written (seconds)."""


@contextmanager
def replaced(store: MessageStore | None, modules: Callable[[], Iterable[object]]) -> Iterator[None]:
    """Replace what goes by the machine for the block.

    Processes cannot see each other, connections to a database are listed by process, and messages
    go over ``store``. What attrs and cattrs write for the same class again is not compiled again.
    ``modules`` returns those in which jobs may be.
    """
    configured = sqlite_engine._configured

    def configured_here(name: str, *, reads: bool) -> sqlite3.Connection:
        connection: sqlite3.Connection = configured(name, reads=reads)
        process = current_process.get()
        if process is not None:
            process.databases.append(connection)
        return connection

    def no_machine() -> str:
        raise OSError("processes of a simulation cannot see each other")

    with ExitStack() as stack:
        stack.enter_context(_attribute(sqlite_engine, "_configured", configured_here))
        stack.enter_context(_attribute(sqlite_engine, "_LOOK", _LOOK))
        stack.enter_context(_attribute(process_identity, "_machine", no_machine))
        stack.enter_context(_attribute(discovery, "imported_modules", modules))
        if store is not None:
            stack.enter_context(_attribute(application, "open_broker", store.open_broker))
        stack.enter_context(_attribute(process_unsent, "clock", LoopClock()))
        for module in (attr._make, cattrs.gen):
            stack.enter_context(_attribute(module, "compile", _compiled))
        stack.enter_context(recording())
        yield


@lru_cache(maxsize=1000)
def _compiled(source: str, file: str, mode: str) -> CodeType:
    code: CodeType = compile(source, file, mode)
    return code


@contextmanager
def _attribute(module: Any, name: str, value: object) -> Iterator[None]:
    """Give a module another attribute for the block, or one in place of a builtin."""
    before = getattr(module, name, _NONE)
    if before is _NONE and not hasattr(builtins, name):  # the module has it no more
        raise AttributeError(f"{module!r} has no attribute {name!r}")
    setattr(module, name, value)
    try:
        yield
    finally:
        if before is _NONE:
            delattr(module, name)
        else:
            setattr(module, name, before)


@contextmanager
def without_collections() -> Iterator[None]:
    """Collect no garbage in the block: finalizers would run at steps of their own."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class RecordedLog(logging.Handler):
    """Keeps what the framework logs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record, unless its process was killed before."""
        process = current_process.get()
        if process is None or not process.killed:
            self.records.append(record)

    def lines(self) -> list[str]:
        """Return the records, one a line."""
        return [f"{one.levelname} {one.name}: {_message(one)}" for one in self.records]


def _message(record: logging.LogRecord) -> str:
    """Return what a record says, with its error in one line."""
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return record.getMessage()
    return f"{record.getMessage()}: {type(error).__name__}: {error}"


@contextmanager
def recorded_log() -> Iterator[RecordedLog]:
    """Record the log below ``fx`` for the block, and print nothing of it."""
    logger, handler = logging.getLogger("fx"), RecordedLog()
    before = logger.propagate, logger.handlers[:], logger.level
    logger.propagate, logger.handlers[:] = False, [handler]
    logger.setLevel(logging.WARNING)
    try:
        yield handler
    finally:
        logger.propagate, logger.handlers[:] = before[:2]
        logger.setLevel(before[2])
