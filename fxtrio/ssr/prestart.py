"""Node processes that start while this process is still importing the app they are for.

Node takes about as long to start as the app does, so `fx serve` begins with Node. The
pool of the app then takes a process that is started just as it would have started one
itself; the block owns those that nobody has taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from fxtrio.context import prestarted
from fxtrio.ssr.launch import Launch, LaunchedNode, launch_node


@attrs.frozen(eq=False)
class Prestarted:
    """Processes that wait to be taken. Made by `prestart`; valid until its block ends."""

    _waiting: list[tuple[Launch, LaunchedNode]] = attrs.field(factory=list)

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
        """End those that nobody has taken: the app has come up without them."""
        while self._waiting:
            self._waiting.pop()[1].kill()


@contextmanager
def prestart(launch: Launch, count: int) -> Iterator[Prestarted]:
    """Have ``count`` processes start, for the pool that code of this block is going to open.

    Raises SsrStartFailed when Node cannot be started.
    """
    made = Prestarted()
    token = prestarted.set(made)
    try:
        for _ in range(count):
            made.start(launch)
        yield made
    finally:
        prestarted.reset(token)
        made.close()


def take_prestarted(launch: Launch) -> LaunchedNode | None:
    """Return a process of the surrounding `prestart`, if there is one for ``launch``."""
    made = prestarted.get()
    return made.take(launch) if isinstance(made, Prestarted) else None
