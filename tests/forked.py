"""Processes of fxtrio's modules that are forked from one that has imported them.

The imports take most of the CPU time of a short command and of a start. `install` is for tests of
what a process does after it has begun, and for what that starts itself; how one begins, what it
imports, and what the variables of Python change is tested by those with the mark
``own_interpreter``. What only the end of an interpreter shows, such as an error within
``__del__``, a forked process does not: with ``FXTRIO_TESTS_FORK=no`` in the environment,
as in the nightly run, none is forked.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import gc
import inspect
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from runpy import run_module
from typing import Any, TextIO

FX = (sys.executable, "-m", "fxtrio")
"""How a command line of `fx` begins."""

FORKS = sys.platform == "linux" and os.environ.get("FXTRIO_TESTS_FORK") != "no"
"""Whether `install` does anything."""

STANDBY = "standby"
"""The name of a process that only forks, below each command: it is none of what a test counts."""

_COMMANDS = frozenset({"fxtrio", "tests.supervise.serve"})
"""Modules that start others of `_MODULES`."""

_MODULES = _COMMANDS | {
    "fxtrio.develop.serving.child_process",
    "fxtrio.server.supervise.worker",
    "fxtrio.tools.project_process.child",
    "fxtrio.tools.project_process.fork_server",
    "hypercorn",
    "pytest",
}
"""What needs no interpreter of its own."""

_HEAVY = (
    *("fxtrio.app", "fxtrio.asgi_entry", "fxtrio.cli.default_app", "fxtrio.compile.build"),
    *("fxtrio.cli.import_check.child", "fxtrio.cli.import_check.process"),
    *("fxtrio.compile.bundling.editor_types", "fxtrio.compile.check.project_checks"),
    *("fxtrio.db.migrations.runner", "fxtrio.develop.build.dev_project", "fxtrio.develop.loop"),
    *("fxtrio.develop.listener", "fxtrio.develop.mcp.endpoint", "fxtrio.develop.report.terminal"),
    *("fxtrio.develop.reload.inotify", "fxtrio.develop.serving.child"),
    *("fxtrio.plugins.auth.plugin", "fxtrio.plugins.jobs.plugin"),
    *("fxtrio.serve.request.model.validate", "fxtrio.tools.lsp.session", "lsprotocol.converters"),
    *("fxtrio.server.supervise.server_process", "fxtrio.server.supervise.start"),
    *("fxtrio.tools.openapi.describing_child", "fxtrio.tools.project_checks.outer_middleware"),
    *("fxtrio.tools.project_process.process", "fxtrio.tools.types.gather.gatherer_child"),
    *("fxtrio.testing", "pytest_trio.plugin", "_pytest.terminal", "_pytest.assertion.rewrite"),
    *("hypercorn.run", "hypercorn.trio.run", "encodings.idna", "encodings.utf_8_sig"),
)
"""What those import once they have begun."""

_LONGEST = 100_000
"""An order, with all variables of the environment (bytes)."""

_MOST = 64
"""Descriptors that a process may get (count)."""

_HIGH = 500
"""Where descriptors wait for their numbers: none of those is as high."""

_SUBREAPER, _NAME = 36, 15
"""Options of prctl: become the parent of orphans; the name of the process."""

_FLUSH_FAILED = 120
"""The exit code of an interpreter that cannot write what it has left to print."""

_TO_THE_GROUP = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1)

_execute = subprocess.Popen._execute_child  # type: ignore[attr-defined] # starts the program
_PARAMETERS = inspect.signature(_execute)
_asking = threading.Lock()
_servers: list[socket.socket] = []
"""The connection to the process that forks for this one, once there is one."""


def install() -> None:
    """Let each `subprocess.Popen` of this process fork what needs no interpreter of its own."""
    if FORKS:
        subprocess.Popen._execute_child = _fork_or_execute  # type: ignore[attr-defined]


def uninstall() -> None:
    """Let each process have its own interpreter."""
    subprocess.Popen._execute_child = _execute  # type: ignore[attr-defined]


def _fork_or_execute(popen: subprocess.Popen[bytes], *arguments: Any) -> None:
    bound = _PARAMETERS.bind(popen, *arguments).arguments
    pid = 0
    if _is_forked(bound):
        with _asking:
            if not _servers:
                _servers.append(_start_server())
            pid = _ask(_servers[0], bound)
    if pid == 0:  # where nothing could be forked, this raises the reason
        _execute(popen, *arguments)
        return
    popen.pid = pid
    popen._child_created = True  # type: ignore[attr-defined]
    pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
    popen._close_pipe_fds(*(bound[name] for name in pipes))  # type: ignore[attr-defined]


def start(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdout: int,
    stderr: int,
    session: bool = False,
    pass_fds: tuple[int, ...] = (),
) -> subprocess.Popen[bytes]:
    """Start a command line that writes to these descriptors; with ``session`` it begins one."""
    return subprocess.Popen(
        list(command),
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        start_new_session=session,
        pass_fds=pass_fds,
    )


def _is_forked(bound: Mapping[str, Any]) -> bool:
    """Return whether the arguments of `_execute` are those of a module of `_MODULES` alone."""
    words = bound["args"]
    plain = isinstance(words, list | tuple) and all(isinstance(word, str) for word in words)
    if not plain or not bound["close_fds"] or bound["shell"] or bound["preexec_fn"] is not None:
        return False
    if bound["executable"] is not None or bound["gid"] is not None or bound["uid"] is not None:
        return False
    if _module_of(words) not in _MODULES or len(bound["pass_fds"]) > _MOST - 3:
        return False
    env = os.environ if bound["env"] is None else bound["env"]
    return all(isinstance(name, str) for name in env) and _of_start(env) == _VARIABLES


def _module_of(words: Sequence[str]) -> str:
    """Return the module that a command line runs, "" for other ones."""
    rest = [word for word in words[:4] if word != "-P"]
    return rest[2] if len(rest) > 2 and rest[:2] == [sys.executable, "-m"] else ""


def _of_start(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that count when an interpreter starts, and never again."""
    return {
        name: value
        for name, value in variables.items()
        if name.startswith(("LD_", "PYTHON")) and name != "PYTHONUNBUFFERED"
    }


_VARIABLES = _of_start(os.environ)
"""Those that the process that forks is started with: a test may change its own."""


def _ask(server: socket.socket, bound: Mapping[str, Any]) -> int:
    """Return the id of a process that was forked; 0 when there is none."""
    words = list(bound["args"])
    numbers = [int(number) for number in bound["pass_fds"]]
    env = os.environ if bound["env"] is None else bound["env"]
    order = {
        "words": words,
        "cwd": os.fspath(bound["cwd"] or Path.cwd()),
        "env": dict(env),
        "session": bool(bound["start_new_session"]),
        "group": bound.get("process_group", -1),
        "numbers": numbers,
    }
    text = json.dumps(order).encode()
    if len(text) > _LONGEST:
        return 0
    ends = [bound[name] for name in ("p2cread", "c2pwrite", "errwrite")]
    streams = [number if end == -1 else end for number, end in enumerate(ends)]
    try:
        with _adopting():
            socket.send_fds(server, [text], [*streams, *numbers])
            return int(server.recv(32) or b"0")
    except OSError:  # it has ended, or a descriptor is closed
        return 0


@contextmanager
def _adopting() -> Iterator[None]:
    """Be the one for the length of the block who becomes the parent of orphans."""
    assert _prctl(_SUBREAPER, 1) == 0
    try:
        yield
    finally:
        _prctl(_SUBREAPER, 0)


def _prctl(option: int, value: int | bytes) -> int:
    result: int = ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    return result


def _start_server() -> socket.socket:
    """Return the connection to a process that forks, which ends with it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    variables = {name: os.environ[name] for name in os.environ if not _of_start({name: ""})}
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(theirs.fileno()), " " * 4000],
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
            cwd=Path(__file__).parents[1],
            env={**variables, **_VARIABLES},
        )

    def end() -> None:
        ours.close()
        process.wait(10)

    atexit.register(end)
    assert ours.recv(32) == b"ready"
    return ours


def _serve(connection: socket.socket) -> list[str]:
    """Fork for each order; return in the child with its command line, and [] at the end."""
    while True:
        order, descriptors, _, _ = socket.recv_fds(connection, _LONGEST, _MOST)
        if not order:
            return []
        receiving, sending = os.pipe()
        waiting, going = os.pipe()
        middle = os.fork()
        if middle == 0:
            if os.fork() != 0:
                os._exit(0)
            for descriptor in (connection.detach(), receiving, going):
                os.close(descriptor)
            sending, waiting = (_moved(one, _HIGH) for one in (sending, waiting))
            its = json.loads(order)
            _become(its, descriptors)
            os.write(sending, str(os.getpid()).encode())
            os.close(sending)
            os.read(waiting, 1)  # until it is a child of the one who has asked
            os.close(waiting)
            _show(its["words"])  # no test sees it, or kills it, before
            return _stand_by(its["words"])
        for descriptor in (*descriptors, sending, waiting):
            os.close(descriptor)
        child = os.read(receiving, 32)
        os.waitpid(middle, 0)  # from then on the child is the one's who has asked
        connection.send(child or b"0")
        os.close(receiving)
        os.close(going)


def _moved(descriptor: int, least: int) -> int:
    """Return a copy of a descriptor that has at least this number, in its place."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, least)
    os.close(descriptor)
    return moved


def _become(order: Mapping[str, Any], descriptors: Sequence[int]) -> None:
    """Make this process what the order says."""
    if order["session"]:
        os.setsid()
    elif order["group"] != -1:
        os.setpgid(0, order["group"])
    for one in _TO_THE_GROUP:
        signal.signal(one, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    waiting = [_moved(descriptor, _HIGH) for descriptor in descriptors]
    for number, descriptor in zip((0, 1, 2, *order["numbers"]), waiting, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    time.tzset()
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        stream = _open_stream(number)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _open_stream(number: int) -> io.TextIOWrapper:
    """Return what Python makes of a standard stream."""
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    raw = io.FileIO(number, "w" if number > 0 else "r", closefd=False)
    binary: Any = raw
    if number == 0:
        binary = io.BufferedReader(raw)
    elif not unbuffered:
        binary = io.BufferedWriter(raw)
    return io.TextIOWrapper(
        binary,
        sys.__stdout__.encoding if sys.__stdout__ is not None else None,
        "backslashreplace" if number == 2 else "strict",
        line_buffering=number == 2 or os.isatty(number),
        write_through=unbuffered,
    )


def _show(words: Sequence[str]) -> None:
    """Be in lists of processes what a command line would be."""
    _prctl(_NAME, Path(words[0]).name.encode())
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    begin, end = int(fields[45]), int(fields[46])
    text = " ".join(words).encode()[: end - begin - 2]
    # A last byte that is not 0 says that the text ends at the first one that is.
    ctypes.memmove(begin, text.ljust(end - begin - 1, b"\0") + b".", end - begin)
    sys.orig_argv[:] = words


def _stand_by(words: list[str]) -> list[str]:
    """Leave behind a process that forks what this one starts; return ``words``, as its child does.

    It is forked before anything runs, and has nothing open that another process waits for.
    """
    if _module_of(words) not in _COMMANDS:
        return words
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() != 0:
        theirs.close()
        _servers[:] = [ours]
        install()
        return words
    descriptor = _moved(theirs.detach(), _HIGH)
    ours.detach()
    os.closerange(0, descriptor)
    for _ in range(3):
        os.open(os.devnull, os.O_RDWR)
    for one in _TO_THE_GROUP:
        signal.signal(one, signal.SIG_IGN)
    _show([STANDBY])
    return _serve(socket.socket(fileno=descriptor))


def _run(words: Sequence[str]) -> None:
    """Run a command line of `_MODULES`."""
    module = _module_of(words)
    sys.argv[1:] = words[list(words).index(module) + 1 :]
    if module != FX[-1] and "-P" not in words[:2]:  # the first leaves the current folder out
        sys.path.insert(0, str(Path.cwd()))
    run_module(module, run_name="__main__", alter_sys=True)


def _run_to_its_end(words: Sequence[str]) -> None:
    """Run a command line, and end the process without clearing its modules.

    That touches all memory which is shared with the process that forks, and so copies it: it took
    longer than to start an interpreter. Threads are waited for, and what is registered is called.
    """
    status: object = None
    try:
        _run(words)
    except SystemExit as exited:
        status = exited.code
    if status is not None and not isinstance(status, int):
        sys.exit(status)  # type: ignore[arg-type]  # a text, which the interpreter prints
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as an interpreter does
    atexit._run_exitfuncs()
    flushed = [_flush(stream) for stream in (sys.stdout, sys.stderr)]
    os._exit(int(status or 0) & 0xFF if all(flushed) else _FLUSH_FAILED)


def _flush(stream: TextIO | None) -> bool:
    """Return whether a standard stream, if there is one, has written all it got."""
    try:
        if stream is not None and not stream.closed:
            stream.flush()
    except (OSError, ValueError) as error:
        with suppress(OSError):
            os.write(2, f"Exception ignored in: {stream!r}\n{error!r}\n".encode())
        return False
    return True


def main() -> None:
    """Import what the modules need, and run those that are requested, each in a child."""
    from fxtrio.cli.group import COMMANDS

    del sys.path[0]  # the current folder
    for command in COMMANDS:
        import_module(f"fxtrio.cli.{command.replace('-', '_')}")
    for module in _HEAVY:
        import_module(module)
    # A project may have its own tests; of hypercorn a module below it runs.
    for module in ("tests", *_MODULES - _COMMANDS - {"hypercorn"}):
        sys.modules.pop(module, None)
    gc.freeze()
    connection = socket.socket(fileno=int(sys.argv[1]))
    connection.send(b"ready")
    words = _serve(connection)
    if not words:
        os._exit(0)  # nothing has run here
    _run_to_its_end(words)


if __name__ == "__main__":
    main()
