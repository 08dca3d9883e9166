"""Processes of `fx` that are forked from one that has imported all commands.

The imports take most of the CPU time of a short command and of a start. So this is for tests of
what a process does after it has begun; how it begins, what it imports, and what the variables of
Python change is tested with processes of their own.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from runpy import run_module
from typing import Any

FX = (sys.executable, "-m", "fxtrio")
"""How a command line of `fx` begins."""

_STARTS = (FX, (sys.executable, "-m", "tests.supervise.serve"))
"""How the command lines begin that need no interpreter of their own."""

CAN_FORK = sys.platform == "linux"

_LONGEST = 1 << 18
"""An order, with all variables of the environment (bytes)."""

_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of prctl: those whose parent ends become children of the caller."""

_HEAVY = (
    *("fxtrio.app", "fxtrio.asgi_entry", "fxtrio.cli.default_app", "fxtrio.compile.build"),
    *("fxtrio.develop.loop", "fxtrio.server.supervise.start"),
)
"""What commands import once they are called."""


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
    """Start a command line that writes to these descriptors; with ``session`` it begins one.

    One that is not in `_STARTS`, gets more descriptors, or has other variables for Python, gets
    its own interpreter.
    """
    words = tuple(command)
    other = words[: len(FX)] not in _STARTS or _for_python(env) != _VARIABLES
    own = other or pass_fds
    kind = subprocess.Popen if own or not CAN_FORK else _Forked
    return kind(
        words,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        start_new_session=session,
        pass_fds=pass_fds,
    )


def _for_python(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name.startswith("PYTHON")}


def _without_python(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if not name.startswith("PYTHON")}


_VARIABLES = _for_python(os.environ)
"""Those for Python that the process that forks is started with: a test may change its own."""


class _Forked(subprocess.Popen[bytes]):
    """A child like any other, though another process has forked it."""

    def __init__(self, words: Sequence[str], **options: Any) -> None:
        self._order = {
            "module": words[len(FX) - 1],
            "arguments": words[len(FX) :],
            "cwd": str(options["cwd"]),
            "env": dict(options["env"]),
            "session": options["start_new_session"],
        }
        self._outputs: list[int] = [options["stdout"], options["stderr"]]
        super().__init__(words, **options)

    def _execute_child(self, *_: object) -> None:  # the method of Popen that starts the program
        server = _server()
        with _adopting():
            socket.send_fds(server, [json.dumps(self._order).encode()], self._outputs)
            self.pid = int(server.recv(32))
        self._child_created = True


@contextmanager
def _adopting() -> Iterator[None]:
    """Be the one for the length of the block who becomes the parent of orphans."""
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(_SUBREAPER, 1, 0, 0, 0) == 0
    try:
        yield
    finally:
        libc.prctl(_SUBREAPER, 0, 0, 0, 0)


@cache
def _server() -> socket.socket:
    """Return the connection to the process that forks, which ends with it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
            cwd=Path(__file__).parents[1],
            env={**_without_python(os.environ), **_VARIABLES},
        )

    def end() -> None:
        ours.close()
        process.wait(10)

    atexit.register(end)
    assert ours.recv(32) == b"ready"
    return ours


def _serve(connection: socket.socket) -> str | None:
    """Fork for each order; return in the child with the module to run, and None at the end."""
    while True:
        order, descriptors, _, _ = socket.recv_fds(connection, _LONGEST, 2)
        if not order:
            return None
        receiving, sending = os.pipe()
        middle = os.fork()
        if middle == 0:
            child = os.fork()
            if child != 0:
                os.write(sending, str(child).encode())
                os._exit(0)
            for descriptor in (connection.detach(), receiving, sending):
                os.close(descriptor)
            return _become(json.loads(order), *descriptors)
        child_pid = os.read(receiving, 32)
        for descriptor in (*descriptors, receiving, sending):
            os.close(descriptor)
        os.waitpid(middle, 0)  # from then on the child is the one's who has asked
        connection.send(child_pid)


def _become(order: dict[str, Any], stdout: int, stderr: int) -> str:
    """Make this process what the order says, and return the module that it runs."""
    if order["session"]:
        os.setsid()
    for number, descriptor in ((1, stdout), (2, stderr)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    sys.argv[1:] = order["arguments"]
    module: str = order["module"]
    if module != FX[-1]:  # which leaves the current folder out
        sys.path.insert(0, order["cwd"])
    return module


def main() -> None:
    """Import what commands need, and run those that are asked for, each in a child."""
    from fxtrio.cli.group import COMMANDS

    del sys.path[0]  # the current folder
    for command in COMMANDS:
        import_module(f"fxtrio.cli.{command.replace('-', '_')}")
    for module in _HEAVY:
        import_module(module)
    del sys.modules["tests"]  # a project may have its own
    gc.freeze()
    connection = socket.socket(fileno=int(sys.argv[1]))
    connection.send(b"ready")
    wanted = _serve(connection)
    if wanted is not None:
        run_module(wanted, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
