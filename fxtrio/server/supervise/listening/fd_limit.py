"""How many files this process may still open. The listener checks it before it accepts.

Connections are not the only descriptors: Node processes, databases, logs and uploads on
disk need some, and their number changes. So open descriptors are counted, not estimated.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable

import trio

_SPARE_FILES = 128
"""Descriptors reserved for files opened between two counts; a quarter of all, if that is less."""

_OFTEN, _SELDOM = 0.25, 2.0
"""Seconds between two counts, where files are short and where they are not."""


class OpenFiles:
    """The remaining of ``granted`` descriptors; None means no limit.

    ``count`` returns how many are open now, None if that is unknown.
    """

    def __init__(self, granted: int | None, count: Callable[[], int | None] | None = None) -> None:
        self.granted = granted
        self._count = count or count_open_files
        self._spare = 0 if granted is None else min(_SPARE_FILES, granted // 4)
        self._others = 0  # that are no connections, at the last count
        self._counted_at = -_SELDOM

    def room(self, connections: int) -> int:
        """Return how many connections may come to the ``connections`` that are open."""
        if self.granted is None:
            return connections + 1_000_000
        now = trio.current_time()
        left = self.granted - self._spare - self._others - connections
        if now - self._counted_at >= (_OFTEN if left < 4 * self._spare else _SELDOM):
            self._counted_at = now
            # If the count is unknown, the reserve has to suffice.
            used = self._count()
            self._others = 0 if used is None else max(0, used - connections)
            left = self.granted - self._spare - self._others - connections
        return left


def raise_file_limit(connections: int) -> int | None:
    """Have the system grant files for so many connections; return how many it grants.

    None when it sets no limit.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return None if soft == resource.RLIM_INFINITY else soft


def count_open_files() -> int | None:
    """Return how many descriptors this process has open; None if the system does not say."""
    try:
        # Without the one that lists them. A `Path` for each would take three times as long.
        return len(os.listdir("/dev/fd")) - 1  # noqa: PTH208
    except FileNotFoundError:
        return None
    except OSError:  # there was none left to list them with
        return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
