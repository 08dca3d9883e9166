"""Notifies systemd of the service's state (sd_notify(3)). Does nothing outside of systemd."""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress


def notify(*lines: str) -> None:
    """Send assignments such as ``READY=1`` to the service manager."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    # Nothing depends on it: a manager that does not listen is not our concern.
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.sendto("\n".join(lines).encode(), address)


def notify_reloading() -> None:
    """Notify systemd of a rolling restart; ``READY=1`` ends it."""
    notify("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")
