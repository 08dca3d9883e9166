"""Server code that the process that serves has yet to take. Used by `dev_project`.

Code that fails is swapped again together with the next: an edit may need the one before it.
A restart that a new process could not import the app for is tried again with each change.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import attrs

from fxtrio.develop.build.applied import SwapCode
from fxtrio.develop.processes.messages import Swap, Swapped
from fxtrio.develop.report.overlay_errors import OverlayProblem, overlay_failure


@attrs.define(eq=False)
class PendingCode:
    """The code of the project in ``root`` that could not be swapped yet."""

    root: Path
    order: Swap = attrs.field(factory=Swap)

    def __bool__(self) -> bool:
        """Whether there is any."""
        return self.order != Swap()

    async def swap(
        self,
        swap: SwapCode,
        sources: Iterable[str] = (),
        files: Iterable[str] = (),
        *,
        restart: str = "",
        at_once: bool = False,
    ) -> tuple[Swapped, list[OverlayProblem]]:
        """Swap this code, and that of ``sources`` and ``files``.

        Returns the outcome, and the problems that the overlay gets.
        """
        pending = self.order
        order = Swap(
            files=tuple({*pending.files, *(str(self.root / file) for file in files)}),
            sources=tuple({*pending.sources, *sources}),
            restart=restart or pending.restart,
            at_once=at_once,
        )
        swapped, rest = await swap(order), Swap()
        if swapped.failed and not restart and pending.restart:
            # The restart is still prevented, as by wrong settings: what serves takes the code.
            swapped, rest = await swap(attrs.evolve(order, restart="")), Swap(restart=order.restart)
        self.order = attrs.evolve(order, at_once=False) if swapped.failed else rest
        return swapped, [overlay_failure(swapped, order, self.root)] if swapped.failed else []
