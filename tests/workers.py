"""Runs test files beside each other, in processes that are forked once all tests are collected.

To collect them takes ten seconds of a core, half of it imports. Processes that each begin with it,
as those of pytest-xdist do, need a minute of both cores of a small machine for the same work.
"""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections import deque
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from itertools import groupby
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import attrs
import pytest

from tests.built_once import FOLDER

CRASHED = "The process of this test ended during it, with status {}."
NEVER_BEGUN = "The process of this test ended before it, with status {}."
LEFT = "The process of this test ended with status {} after all of its tests, this one the last."


GROUP = pytest.StashKey[Hashable]()
"""What tests have in common that run in one process: by default their file."""


def _group(item: pytest.Item) -> Hashable:
    return item.stash.get(GROUP, item.path)


@attrs.define(eq=False)
class _Worker:
    """A process that runs the tests of one file after those of another."""

    name: str
    process: int
    connection: Connection[Any, Any]
    files: deque[range] = attrs.field(factory=deque)
    """The files that it has, the first of which it runs: numbers of their tests."""
    current: int | None = None
    """The number of the test that it runs, or of its last."""
    ended: bool = False
    """Whether it has run all of its tests."""


@attrs.define(eq=False)
class Workers:
    """A plugin that runs the tests of a session in ``count`` processes."""

    count: int
    _waiting: deque[range] = attrs.field(factory=deque, init=False)
    _running: dict[Connection[Any, Any], _Worker] = attrs.field(factory=dict, init=False)
    _started: int = attrs.field(default=0, init=False)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run the tests, unless there is something to say about their collection alone."""
        option = session.config.option
        if option.collectonly or (session.testsfailed and not option.continue_on_collection_errors):
            return None
        if option.basetemp:
            _temporary(session.config).getbasetemp()  # cleared once, and not by each worker
        numbers = range(len(session.items))
        for _, its in groupby(numbers, key=lambda number: _group(session.items[number])):
            first, *rest = its
            self._waiting.append(range(first, first + 1 + len(rest)))
        folder = session.config.stash[FOLDER] = Path(tempfile.mkdtemp())
        try:
            self._run(session)
        finally:  # a TemporaryDirectory would be removed by the first process that ends
            shutil.rmtree(folder, ignore_errors=True)
        return True

    def _run(self, session: pytest.Session) -> None:
        try:
            for _ in range(min(self.count, len(self._waiting))):
                self._start(session)
            while self._running:
                for connection in wait(list(self._running)):
                    assert isinstance(connection, Connection)
                    self._hear(session, self._running[connection])
                    if session.shouldfail:
                        raise session.Failed(session.shouldfail)
        finally:
            for worker in self._running.values():
                os.kill(worker.process, signal.SIGINT)
                os.waitpid(worker.process, 0)

    def _start(self, session: pytest.Session) -> None:
        ours, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        name = f"w{self._started}"
        self._started += 1
        process = os.fork()
        if process == 0:
            for connection in (ours, *self._running):
                connection.close()
            _work(session, theirs, name)
        theirs.close()
        worker = _Worker(name, process, ours)
        self._running[ours] = worker
        self._send_file(worker)

    def _send_file(self, worker: _Worker) -> None:
        """Let a worker run one more file; None tells it that there is none."""
        file = self._waiting.popleft() if self._waiting else None
        if file is not None:
            worker.files.append(file)
        with suppress(BrokenPipeError):  # it has ended, as will be heard
            worker.connection.send(file)

    def _hear(self, session: pytest.Session, worker: _Worker) -> None:
        try:
            kind, value = worker.connection.recv()
        except (EOFError, OSError):  # the latter in the middle of a message
            self._bury(session, worker)
            return
        hook = session.config.hook
        if kind == "begins":
            worker.current = value
            while value not in worker.files[0]:
                worker.files.popleft()
        elif kind == "next":
            self._send_file(worker)
        elif kind == "report":
            report = hook.pytest_report_from_serializable(config=session.config, data=value)
            report.node = _label(worker.name)
            hook.pytest_runtest_logreport(report=report)
        elif kind == "warning":
            hook.pytest_warning_recorded.call_historic(kwargs=value)
        else:
            worker.ended = True

    def _bury(self, session: pytest.Session, worker: _Worker) -> None:
        """Report the test during which a worker has ended, and start another for the rest.

        Whatever ended it is the failure of a test: a run that fails without one may be taken for
        one whose failures have passed the second time.
        """
        del self._running[worker.connection]
        worker.connection.close()
        status = os.waitstatus_to_exitcode(os.waitpid(worker.process, 0)[1])
        if worker.ended:
            assert worker.current is not None
            if status != 0:
                _fail(session, worker.current, "teardown", LEFT.format(status))
            return
        file = worker.files.popleft()
        cause, number = CRASHED, worker.current
        if number is None:
            cause, number = NEVER_BEGUN, file.start
        _fail(session, number, "call", cause.format(status))
        rest = range(number + 1, file.stop)
        self._waiting.extendleft(file for file in (*reversed(worker.files), rest) if file)
        if self._waiting:
            self._start(session)


def _fail(
    session: pytest.Session, number: int, when: Literal["call", "teardown"], cause: str
) -> None:
    item = session.items[number]
    report = pytest.TestReport(item.nodeid, item.location, {}, "failed", cause, when)
    session.config.hook.pytest_runtest_logreport(report=report)


def _temporary(config: pytest.Config) -> pytest.TempPathFactory:
    factory = config._tmp_path_factory  # type: ignore[attr-defined]  # what the fixture returns
    assert isinstance(factory, pytest.TempPathFactory)
    return factory


def _label(name: str) -> SimpleNamespace:
    """Return what pytest prints beside a test, as it does for pytest-xdist."""
    return SimpleNamespace(gateway=SimpleNamespace(id=name), _workerinfocache=f"[{name}]")


@attrs.define(eq=False)
class _Sender:
    """A plugin of a worker that sends what its tests report, and what is printed of it alone."""

    config: pytest.Config
    connection: Connection[Any, Any]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.passed and report.when != "call" and self.config.option.durations is None:
            return
        hook = self.config.hook
        data = hook.pytest_report_to_serializable(config=self.config, report=report)
        self.connection.send(("report", data))

    def pytest_warning_recorded(self, **contents: Any) -> None:
        contents["warning_message"].source = None
        self.connection.send(("warning", contents))


def _work(session: pytest.Session, connection: Connection[Any, Any], name: str) -> None:
    """Run the files that come, and end this process."""
    # What a test forks may outlive this process, whose end is seen by the end of its connection.
    os.register_at_fork(after_in_child=connection.close)
    status = 1
    try:
        with _set_up(session, connection, name):
            _run_files(session, connection)
        status = 0
    except KeyboardInterrupt:
        pass
    except BaseException:  # it would go on as the process does that has forked this one
        traceback.print_exc()
    finally:
        try:
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)


@contextmanager
def _set_up(session: pytest.Session, connection: Connection[Any, Any], name: str) -> Iterator[None]:
    """Have output and temporary files of its own, and leave nothing of the tests behind."""
    config = session.config
    if config.option.basetemp:
        factory = _temporary(config)
        factory._basetemp = factory.mktemp(name, numbered=False)
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()  # its file is that of all of them
    capture.start_global_capturing()
    capture.suspend_global_capture()
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(_Sender(config, connection))
    try:
        yield
    finally:
        session._setupstate.teardown_exact(None)
        gc.collect()
        coverage = sys.modules.get("coverage")
        measured = coverage and coverage.Coverage.current()
        if measured:
            measured.stop()
            measured.save()
        config._ensure_unconfigure()


def _run_files(session: pytest.Session, connection: Connection[Any, Any]) -> None:
    file: range | None = connection.recv()
    while file is not None:
        following: range | None = None
        for number in file:
            connection.send(("begins", number))
            after = number + 1
            if after == file.stop:
                connection.send(("next", None))  # as late as that, so that no file waits for long
                following = connection.recv()
                after = following.start if following is not None else -1
            item = session.items[number]
            following_item = session.items[after] if after >= 0 else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following_item)
            if session.shouldfail:
                return
        file = following
    connection.send(("ends", None))
