"""Forks the process that serves from `fx dev`, when that has imported what both of them need.

So these modules are imported once instead of twice. It happens before there is a thread or an
event loop, and only for the first start: the processes that replace it have an interpreter of
their own. Where it cannot be done, the first one has, too.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

from fxtrio.develop.processes.forked_process import ForkedProcess
from fxtrio.develop.processes.launch import LaunchedServer, Server, server_variables
from fxtrio.develop.serving import child_process

_AT_THE_START = (*("PYTHON", "LD_", "LANG", "LC_", "TZ", "MALLOC_", "GLIBC_", "OPENSSL_", "SSL_"),)
"""How variables begin that an interpreter, or a library that is loaded by now, reads once."""

_OURS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that `fx dev` handles in its own way."""


def can_fork(variables: Iterable[str]) -> bool:
    """Return whether a fork is as good as a new interpreter with these ``variables`` of files."""
    if sys.platform != "linux" or threading.active_count() > 1 or sys.gettrace() is not None:
        return False
    return not any(name.startswith(_AT_THE_START) for name in variables)


def fork_server(server: Server, leave: Callable[[], object]) -> LaunchedServer:
    """Fork the process that serves, which waits for `BEGIN` like that of `launch_server`.

    In that process this raises SystemExit, when it has served. Before, ``leave`` lets go of
    what belongs to `fx dev` alone.
    """
    orders, ordering = os.pipe()
    reading, writing = os.pipe()
    errors, erring = os.pipe()
    theirs, ours = (orders, writing, erring), (ordering, reading, errors)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()  # else both would write what is left
    # A signal is handled by the process that it is sent to, when that is ready.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _OURS)
    try:
        pid = os.fork()
        if pid == 0:
            _leave_parent(ours, leave)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if pid == 0:
        for descriptor, number in ((orders, 0), (erring, 2)):
            os.dup2(descriptor, number)
            os.close(descriptor)
        raise SystemExit(_serve(server, writing))
    for descriptor in theirs:
        os.close(descriptor)
    return LaunchedServer(ForkedProcess(pid, stdin=ordering, stderr=errors), reading)


def _leave_parent(ours: Iterable[int], leave: Callable[[], object]) -> None:
    """Be a process with a session and signals of its own, and without the parent's pipes.

    It keeps what the parent was started with, and the lock of its folder, which is in use then.
    """
    os.setsid()  # so that Ctrl-C reaches the command only
    for number in _OURS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            default = signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler
            signal.signal(number, default)
    for descriptor in ours:
        os.close(descriptor)
    leave()


def _serve(server: Server, replies: int) -> object:
    """Serve like a new interpreter that runs `child_process`; return the exit code."""
    try:
        os.environ.update(server_variables(server, replies=replies))
        server.socket.detach()  # whoever serves closes it
        _look_new(server.root)
        return child_process.import_server()()
    except SystemExit as error:
        return error.code  # `fx` would say more about it
    except BaseException:
        traceback.print_exc()
        return 1


def _look_new(root: Path) -> None:
    """Change what is seen of a process that was started in another way."""
    errors = getattr(sys.__stdout__, "errors", None) or "strict"
    sys.stdout, sys.stderr = _unbuffered(1, errors), _unbuffered(2, "backslashreplace")
    script = str(Path(sys.argv[0]).resolve().parent)
    if sys.path[:1] == [script]:
        del sys.path[0]  # that of `fx`
    os.chdir(root)
    if "PYTHONSAFEPATH" not in os.environ:
        sys.path.insert(0, str(Path.cwd()))
    sys.argv[:] = [str(child_process.__file__)]
    sys.modules["__main__"] = child_process  # what processes of `multiprocessing` import


def _unbuffered(number: int, errors: str) -> io.TextIOWrapper:
    raw = io.FileIO(number, "w", closefd=False)
    encoding = getattr(sys.__stdout__, "encoding", None)
    # As Python itself does with -u.
    return io.TextIOWrapper(raw, encoding, errors, write_through=True)
