"""A crowd of hostile clients beside a healthy one: what it costs, and what is left of it.

    python -m benchmarks.http.hostile [--clients 5000]

A fifth each: idle, with a head that does not end, with a body that does not come, with
an answer that is not read, and WebSockets that never pong. Prints the healthy client's
latency before, during and after, and the server's descriptors and memory. Needs wrk,
and as many open files as clients.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import time
from collections.abc import Callable

import psutil

from benchmarks.http.servers import ROOT
from benchmarks.load import Load, run_wrk
from benchmarks.processes import end
from benchmarks.works import Call
from tests.ports import free_port

KINDS = {
    "idle": b"",
    "slow head": b"GET / HTTP/1.1\r\nHost: a\r\nX: ",
    "slow body": b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc",
    "not reading": b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n",
    "no pong": b"GET /chat HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: c2l4dGVlbiBieXRlcyBvaw==\r\n\r\n",
}
_CALL = Call(path="/", contains=("Hello, world!",))


def healthy(port: int) -> Load:
    """Return what one healthy client sees: the run with the median p99 of five, 2 s each."""
    url = f"http://127.0.0.1:{port}"
    runs = [run_wrk(url, _CALL, headers={}, connections=1, seconds=2) for _ in range(5)]
    return sorted(runs, key=lambda run: run.p99)[len(runs) // 2]


def crowd(port: int, number: int) -> list[socket.socket]:
    """Open connections that want more than they give."""
    opened = []
    kinds = list(KINDS.values())
    for index in range(number):
        client = socket.create_connection(("127.0.0.1", port), timeout=10)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(kinds[index % len(kinds)])
        opened.append(client)
    return opened


def main() -> int:
    """Measure; return 1 when the healthy client suffers, or something is left."""
    parser = argparse.ArgumentParser(description="Measure what hostile clients cost.")
    parser.add_argument("--clients", type=int, default=5000)
    options = parser.parse_args()
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.http.hostile_server", str(port)]
    server = subprocess.Popen(command, cwd=ROOT, text=True)
    try:
        return _measure(server.pid, port, options.clients)
    finally:
        end(server, patience=5)


def _measure(pid: int, port: int, number: int) -> int:
    process = psutil.Process(pid)
    _wait(lambda: _answers(port), 20)
    before, files = healthy(port), process.num_fds()
    _tell("before", before, process)
    opened = crowd(port, number)
    _wait(lambda: process.num_fds() >= files + number, 30)
    _wait(lambda: process.cpu_percent(0.5) < 20, 20)  # the answers have been begun
    during = healthy(port)
    _tell("during", during, process)
    released = _wait(lambda: process.num_fds() <= files + 1, 60)
    after = healthy(port)
    _tell("after", after, process)
    for client in opened:
        client.close()
    print(f"p99 during / before: {during.p99 / before.p99:.2f}; all gone: {released}")
    return 0 if released and during.p99 <= 2 * before.p99 else 1


def _tell(when: str, load: Load, process: psutil.Process) -> None:
    memory = process.memory_info().rss / 1e6
    print(
        f"{when}: p50 {load.p50:.2f} ms, p99 {load.p99:.2f} ms, {load.errors or 'no errors'}; "
        f"{process.num_fds()} descriptors, {memory:.0f} MB"
    )


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _wait(holds: Callable[[], bool], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


if __name__ == "__main__":
    sys.exit(main())
