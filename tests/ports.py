"""Ports for the servers that tests and benchmarks start: each belongs to one process until it ends.

A port that was free a moment ago may be another process's when the server binds it: tests run
beside each other, and the kernel gives the same ports to outgoing connections.
So these are none of the kernel's own, and each is locked as long as its process lives.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import socket
import tempfile
from contextlib import suppress
from pathlib import Path

import attrs

_KERNELS = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST = 10_240  # below are the ports of known servers, and those that browsers refuse
_END = 65_536


@attrs.define
class Ports:
    """Ports of which no two processes with the same ``file`` get the same one.

    ``file`` is created when it is missing, and stays empty: byte N of it is locked for port N.
    """

    file: Path
    among: range
    _descriptor: int = -1
    _reserved: set[int] = attrs.field(factory=set)

    def reserve(self, count: int = 1) -> int:
        """Return the first of so many adjacent ports that are free, for this process alone.

        Raises RuntimeError when there are none.
        """
        starts = len(self.among) - count + 1
        first = secrets.randbelow(max(starts, 1))  # so that processes seldom try the same ones
        for step in range(starts):
            port = self.among[(first + step) % starts]
            if self._take(range(port, port + count)):
                return port
        raise RuntimeError(f"no {count} free ports in a row among {self.among}")

    def _take(self, ports: range) -> bool:
        taken = []
        for port in ports:
            if port in self._reserved or not self._lock(port):
                break
            taken.append(port)
            if not _is_free(port):
                break
        else:
            self._reserved.update(ports)
            return True
        for port in taken:
            fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, port)
        return False

    def _lock(self, port: int) -> bool:
        if self._descriptor < 0:  # the kernel ends the locks with the process
            self._descriptor = os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with suppress(BlockingIOError, PermissionError):  # what systems say of another's lock
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
            return True
        return False


def _is_free(port: int) -> bool:
    """Return whether nobody has the port on any address, nor has left a connection to time out."""
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


def not_the_kernels(text: str) -> range:
    """Return the ports on the wider side of the kernel's own: "first last", in decimal."""
    first, last = (int(word) for word in text.split())
    beside = max(range(_LOWEST, first), range(last + 1, _END), key=len)
    return beside or range(_LOWEST, _END)


def _shared() -> Ports:
    text = _KERNELS.read_text("ascii") if _KERNELS.exists() else "49152 65535"
    file = Path(tempfile.gettempdir()) / f"fxtrio-ports-{os.geteuid()}"
    return Ports(file, not_the_kernels(text))


PORTS = _shared()


def free_port() -> int:
    """Return a port that nobody has, and that nobody else gets as long as this process lives."""
    return PORTS.reserve()
