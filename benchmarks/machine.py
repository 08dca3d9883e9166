"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from pathlib import Path


def facts() -> dict[str, str | int | float]:
    """Return the processor, memory, versions, and how busy the machine is already."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "node": _version_of("node", "--version"),
        "wrk": _version_of("wrk", "-v"),
        "load_before": round(os.getloadavg()[0], 2),
        "busy_before": round(busy(), 2),
    }


QUIET = 0.1
"""Share of the cores that may be busy before a run; above it, figures are not comparable."""


def busy(seconds: float = 1.0) -> float:
    """Return the share of all cores that is busy, measured for ``seconds``."""
    before = _times()
    time.sleep(seconds)
    used, idle = (after - earlier for after, earlier in zip(_times(), before, strict=True))
    return used / (used + idle) if used + idle else 0.0


def _times() -> tuple[float, float]:
    """Return how long all cores together have been busy, and idle (ticks)."""
    fields = [int(text) for text in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    idle = fields[3] + fields[4]  # with what waits for disks
    return sum(fields) - idle, idle


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _version_of(*command: str) -> str:
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except FileNotFoundError:
        return "none"
    lines = (run.stdout or run.stderr).strip().splitlines()  # wrk -v also prints its usage
    return lines[0].partition(" Copyright")[0] if lines else "unknown"
