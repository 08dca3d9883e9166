"""Isolates page code in a worker from the server's environment, memory and files.

Page code includes code of packages. It runs with a reduced environment, with Node
permissions for the files of the build only, and the kernel denies its process access to
the memory of the server. Used by `fxtrio.ssr.process.launch`.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, TypeVar

ALLOWED: Final = frozenset(
    {
        "PATH",
        "TZ",
        "TZDIR",
        "TMPDIR",
        "LANG",
        "LANGUAGE",
        "LD_LIBRARY_PATH",  # some builds of Node find their libraries by it
        "NODE_OPTIONS",
        "NODE_EXTRA_CA_CERTS",
        "NODE_ICU_DATA",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "NO_COLOR",
    }
)
"""Variables of the environment that a worker gets."""

ALLOWED_PREFIXES: Final = ("LC_", "FX_PUBLIC_")
"""Prefixes of further variables that it gets."""

_PERMISSION_SINCE: Final = {22: (22, 13), 23: (23, 5)}
"""First versions of Node that say ``--permission``, where the first of a line does not."""

_NET_SINCE: Final = 25
"""First line of Node whose permissions are about the network, too."""

_SET_DUMPABLE: Final = 4  # prctl(2)
_DROP_CAPABILITY: Final = 24
_CAPABILITIES: Final = {
    "CAP_SYS_MODULE": 16,
    "CAP_SYS_RAWIO": 17,
    "CAP_SYS_PTRACE": 19,
    "CAP_SYS_ADMIN": 21,
    "CAP_PERFMON": 38,
    "CAP_BPF": 39,
}
"""Capabilities that give root access to the memory of other processes (capabilities(7))."""

T = TypeVar("T")


def worker_environment(mode: str) -> dict[str, str]:
    """Return the environment of a worker; ``mode`` is its NODE_ENV."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name in ALLOWED or name.startswith(ALLOWED_PREFIXES)
    }
    return {**inherited, "NODE_ENV": mode}


def choose_permissions(
    version: tuple[int, int, int], folders: Iterable[Path], *, threads: bool
) -> list[str]:
    """Return the options of Node that leave page code nothing but to read ``folders``.

    It writes no files, and starts no processes and no threads (but for ``threads``). The
    network stays open: pages may fetch. Measured with Node 20.20, 22.20 and 24.19: the
    start takes no longer.
    """
    major = version[0]
    if version[:2] >= _PERMISSION_SINCE.get(major, (24, 0)):
        flags = ["--permission"]
    else:
        flags = ["--experimental-permission", "--disable-warning=ExperimentalWarning"]
    # Node resolves links before it looks; both names of a folder are in use.
    named = dict.fromkeys(str(path) for folder in folders for path in (folder, folder.resolve()))
    flags += [f"--allow-fs-read={name}/" for name in named]
    if major >= _NET_SINCE:
        flags.append("--allow-net")
    if threads:
        flags += ["--allow-worker", "--disable-warning=SecurityWarning"]
    return flags


def close_memory() -> None:
    """Let no process of the same user read the memory and the environment of this one.

    On Linux, for good: there are no core dumps and no debuggers but root's after it.
    Elsewhere it does nothing.
    """
    if sys.platform == "linux":
        _prctl(_SET_DUMPABLE, 0)


def start_unprivileged(start: Callable[[], T]) -> T:
    """Call ``start()`` so that its process, even as root, cannot read closed memory.

    It runs in a separate thread, because capabilities belong to a thread: only its child
    lacks them. For other users, and on systems other than Linux, it is just called.
    """
    if sys.platform != "linux" or os.geteuid() != 0:
        return start()
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        for number in _CAPABILITIES.values():
            _prctl(_DROP_CAPABILITY, number)  # no effect if it was dropped already
        try:
            done.append(start())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="fx.ssr.start")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]


def _prctl(option: int, value: int) -> None:
    # An expensive import, and needed on Linux only.
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
