"""Who a worker is, so that others on the same machine can tell that its process has died."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

_PROC = Path("/proc")


def new_identity() -> str:
    """Return ``machine/pid/start/random``; other systems than Linux have an empty machine."""
    return f"{_machine()}/{os.getpid()}/{_start(os.getpid())}/{secrets.token_hex(4)}"


def is_dead(identity: str) -> bool:
    """Tell whether a worker's process has certainly ended. Others are left to their lease."""
    machine, pid, start, _ = identity.split("/")
    if not machine or machine != _machine():
        return False
    return _start(int(pid)) != start


def _machine() -> str:
    """Return what processes that see each other's numbers have in common."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}.{(_PROC / 'self/ns/pid').readlink().name}"
    except OSError:
        return ""


def _start(pid: int) -> str:
    """Return when a process began, by which a number that is used again is told apart."""
    try:
        # Behind the name, which may hold anything; "Z" has ended and not been waited for.
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
