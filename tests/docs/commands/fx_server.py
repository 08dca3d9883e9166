"""Runs `fx` and `pytest` for the shells of readers: forked, so their imports are paid for once.

A shell runs the program `fx_client.py`, whose connection is served by a thread here. The process
is the one that the command line would start (`tests/forked.py`), with the streams, the folder and
the variables of the shell.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_LONGEST = 100_000
"""A request, with all variables of a shell (bytes)."""


@contextmanager
def running(path: Path) -> Iterator[None]:
    """Serve the socket ``path`` for the length of the block, one thread for each program."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(path))
        listening.listen()
        accepting = threading.Thread(target=_accept, args=(listening,))
        accepting.start()
        try:
            yield
        finally:
            listening.shutdown(socket.SHUT_RDWR)  # `accept` raises
            accepting.join()


def _accept(listening: socket.socket) -> None:
    threads = []
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            break
        threads.append(threading.Thread(target=_serve, args=(connection,)))
        threads[-1].start()
    for thread in threads:
        thread.join()


def _serve(connection: socket.socket) -> None:
    """Run one program to its end, which comes at the latest when the shell has ended."""
    with connection:
        request, streams, _, _ = socket.recv_fds(connection, _LONGEST, 3)
        process = _start(json.loads(request), streams)
        for stream in streams:
            os.close(stream)
        forwarding = threading.Thread(target=_forward, args=(connection, process))
        forwarding.start()
        code = process.wait()
        with suppress(OSError):  # the shell has gone
            connection.send(str(code).encode())
            connection.shutdown(socket.SHUT_RDWR)
        forwarding.join()


def _start(request: dict[str, Any], streams: list[int]) -> subprocess.Popen[bytes]:
    """Start it with the variables of Python that this process has: only so it is forked."""
    own = {key: value for key, value in os.environ.items() if key.startswith("PYTHON")}
    others = {key: value for key, value in request["env"].items() if not key.startswith("PYTHON")}
    return subprocess.Popen(
        [sys.executable, *request["arguments"]],
        cwd=request["cwd"],
        env={**others, **own},
        stdin=streams[0],
        stdout=streams[1],
        stderr=streams[2],
        start_new_session=True,
    )


def _forward(connection: socket.socket, process: subprocess.Popen[bytes]) -> None:
    """Send signals on; kill the process and its children when the shell has ended before them."""
    with suppress(ConnectionResetError):  # it was killed
        while number := connection.recv(32):
            os.killpg(process.pid, int(number))
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
