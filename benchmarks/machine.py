"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import subprocess
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
    }


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
