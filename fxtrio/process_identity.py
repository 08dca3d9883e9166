"""Who a process is, so that others on the same machine can tell that it has died."""

from __future__ import annotations

import os
import re
import secrets
from functools import cache
from pathlib import Path

import trio

_PROC = Path("/proc")
_LOOK = 0.25  # between two looks at a process that the kernel tells nothing of, in seconds
_FORM = r"[\w.:\[\]-]*/[0-9]{1,10}/[0-9]{0,20}/[0-9a-f]{8,64}"


def new_identity() -> str:
    """Return ``machine/pid/start/random``; the machine is empty where nobody could look.

    So it is on other systems than Linux.
    """
    pid = os.getpid()
    try:
        here, start = _machine(), _start(pid)
    except OSError:
        here = start = ""
    return f"{here}/{pid}/{start}/{secrets.token_hex(8)}"


def epoch_of(identity: str, number: int) -> str:
    """Return a name for a part of the life of who has ``identity``; ``number`` counts them."""
    return f"{identity}{number:08x}"


def split_epoch(epoch: str) -> tuple[str, int]:
    """Return the identity and the number of an `epoch_of`; of other text nothing that fits."""
    identity, number = epoch[:-8], epoch[-8:]
    return (identity, int(number, 16)) if is_identity(epoch) else (epoch, 0)


def is_identity(text: str) -> bool:
    """Return whether a text may be a result of `new_identity`."""
    return re.fullmatch(_FORM, text, re.ASCII) is not None


def is_here(identity: str) -> bool:
    """Tell whether an identity is that of a process whose end this one can see."""
    here = machine()
    return here != "" and is_identity(identity) and identity.startswith(here + "/")


def is_dead(identity: str) -> bool:
    """Tell whether a process has certainly ended. Others are left to their lease."""
    if not is_here(identity):
        return False
    _, pid, start, _ = identity.split("/")
    try:
        return _start(int(pid)) != start
    except OSError:  # such as for want of a descriptor, which tells nothing of others
        return False


async def wait_dead(identity: str) -> None:
    """Wait until a process has ended for which `is_here` is true; at once if it has."""
    await trio.lowlevel.checkpoint()
    try:
        descriptor = os.pidfd_open(int(identity.split("/")[1]))
    except OSError:  # it has ended, or the kernel cannot tell
        while not is_dead(identity):  # noqa: ASYNC110  # nothing tells
            await trio.sleep(_LOOK)
        return
    try:
        if not is_dead(identity):  # else the number is another's by now
            await trio.lowlevel.wait_readable(descriptor)
    finally:
        os.close(descriptor)


def machine() -> str:
    """Return what processes that see each other's numbers have in common; "" if nothing does."""
    try:
        return _machine()
    except OSError:
        return ""


@cache  # it never changes, and may not be readable later, for want of a descriptor
def _machine() -> str:
    boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}.{(_PROC / 'self/ns/pid').readlink().name}"


def _start(pid: int) -> str:
    """Return when a process began, which distinguishes it from a later one with the same number.

    Empty when there is none. Raises OSError when it cannot be found out.
    """
    try:
        # Behind the name, which may hold anything; "Z" has ended and not been waited for.
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def parent_started() -> str:
    """Return when this process's parent began; "" where nobody could look."""
    try:
        return _start(os.getppid())
    except OSError:
        return ""
