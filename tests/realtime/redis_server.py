"""A Redis server of the test's own, which can be killed and brought back."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ports import free_port

REDIS = "redis-server"


class RedisServer:
    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [
            REDIS,
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--dir",
            str(self._folder),
        ]
        command += ["--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert time.monotonic() < deadline, "redis-server does not start"
                time.sleep(0.01)

    def freeze(self) -> None:
        """Let it answer nothing, with its connections open."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def cut(self) -> None:
        """Break the subscription connections, and nothing else."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as client:
            client.sendall(b"CLIENT KILL TYPE pubsub\r\n")
            assert client.recv(100).startswith(b":")

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@contextmanager
def running_redis(folder: Path) -> Iterator[RedisServer]:
    """Run a Redis server for as long as the block lasts."""
    server = RedisServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()
