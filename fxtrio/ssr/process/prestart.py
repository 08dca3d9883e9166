"""Node processes that start while this process is still importing their app.

Node takes about as long to start as the app does, so `fx serve` starts Node first. The
app's pool then takes a process that was started with the parameters it would use
itself; the block owns the remaining ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from fxtrio.context import prestarted
from fxtrio.ssr.process.launch import Launch, LaunchedNode, launch_node


class Prestarted(msgspec.Struct, frozen=True, eq=False):
    """Prestarted processes. Created by `prestart`; valid until its block ends."""

    _waiting: list[tuple[Launch, LaunchedNode]] = msgspec.field(default_factory=list)

    def start(self, launch: Launch) -> None:
        """Start one more. Raises SsrStartFailed when Node cannot be started."""
        self._waiting.append((launch, launch_node(launch)))

    def take(self, launch: Launch) -> LaunchedNode | None:
        """Return one that was started with ``launch``, and from then on is the caller's."""
        for waiting in self._waiting:
            if waiting[0] == launch:
                self._waiting.remove(waiting)
                return waiting[1]
        return None

    def close(self) -> None:
        """End the processes that were not taken: the app has started without them."""
        while self._waiting:
            self._waiting.pop()[1].kill()


@contextmanager
def prestart(launch: Launch, count: int) -> Iterator[Prestarted]:
    """Have ``count`` processes start, for the pool that code of this block is going to open.

    Raises SsrStartFailed when Node cannot be started.
    """
    prestarted_processes = Prestarted()
    token = prestarted.set(prestarted_processes)
    try:
        for _ in range(count):
            prestarted_processes.start(launch)
        yield prestarted_processes
    finally:
        prestarted.reset(token)
        prestarted_processes.close()


def take_prestarted(launch: Launch) -> LaunchedNode | None:
    """Return a process of the surrounding `prestart`, if there is one for ``launch``."""
    prestarted_processes = prestarted.get()
    return (
        prestarted_processes.take(launch) if isinstance(prestarted_processes, Prestarted) else None
    )
