"""What a server's processes use: CPU time and memory, read from `/proc` through psutil."""

from __future__ import annotations

import contextlib
import subprocess
from collections import Counter

import psutil


def tree(pid: int) -> list[psutil.Process]:
    """Return the process and all its descendants; none when it has ended."""
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def cpu_seconds(pid: int) -> Counter[str]:
    """Return ``{program: seconds of CPU so far}`` of a tree; the kernel counts in 10 ms."""
    used: Counter[str] = Counter()
    for process in tree(pid):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            used[_program(process)] += times.user + times.system
    return used


def memory_mb(pid: int) -> float:
    """Return the memory of a tree in megabytes, where shared pages count once in all (PSS)."""
    total = 0
    for process in tree(pid):
        with contextlib.suppress(psutil.NoSuchProcess):
            total += process.memory_full_info().pss
    return total / 1e6


def end(server: subprocess.Popen[str], *, patience: float) -> None:
    """End a process and its descendants: politely first, for good after ``patience`` seconds."""
    processes = tree(server.pid)
    server.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(patience)
    for process in processes:  # a process whose id is another's by now is not running for psutil
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.is_running():
                process.kill()
    server.wait(patience)
    psutil.wait_procs(processes, timeout=patience)


def _program(process: psutil.Process) -> str:
    name: str = process.exe().rpartition("/")[2]
    return "python" if name.startswith("python") else name
