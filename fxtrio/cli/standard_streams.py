"""The standard descriptors of a command that was started without them, as by ``<&-``."""

from __future__ import annotations

import os
import sys


def open_closed_descriptors() -> None:
    """Open descriptors 0, 1 and 2 on ``/dev/null`` where they are closed.

    Call it before anything else is opened: that would take their numbers, and get what is
    written to standard output and error.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    # Python has no streams for what was closed when it began. These last as long as it does.
    sys.stdin = sys.stdin or open(0, closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
