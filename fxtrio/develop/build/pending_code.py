"""Server code that the process that serves has yet to take. Used by `dev_project`.

Code that fails is swapped again together with the next: an edit may need the one before it.
A restart that no new process could take over for is tried again whenever code changes.
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

    restart: str = ""
    """Why a restart is due that has been prevented; "" if none is."""

    def __bool__(self) -> bool:
        """Whether there is any."""
        return self.order != Swap()

    def begin(self, order: Swap) -> None:
        """Forget what a former process lacked; the next one has yet to take ``order``."""
        self.order, self.restart = order, ""

    async def swap(
        self,
        swap: SwapCode,
        sources: Iterable[str] = (),
        files: Iterable[str] = (),
        *,
        restart: str = "",
        at_once: bool = False,
    ) -> tuple[Swapped, list[OverlayProblem]]:
        """Swap this code, and that of ``sources`` and ``files``; or restart, where that is due.

        What serves takes the code also if the restart is prevented, as by wrong settings.

        Returns the outcome of the code or of the restart, and the problems that the overlay gets.
        """
        order = Swap(
            files=tuple({*self.order.files, *(str(self.root / file) for file in files)}),
            sources=tuple({*self.order.sources, *sources}),
            at_once=at_once,
        )
        problems: list[OverlayProblem] = []
        self.restart = restart or self.restart
        if self.restart:
            prevented = Swap(restart=self.restart)
            swapped = await swap(prevented)
            if not swapped.failed:
                self.begin(Swap())
                return swapped, []
            problems.append(overlay_failure(swapped, prevented, self.root))
        swapped = await swap(order)  # also without files: pages may have come or gone
        self.order = attrs.evolve(order, at_once=False) if swapped.failed else Swap()
        if swapped.restart:  # it is made after all: what has prevented it was just put right
            return swapped, []
        if swapped.failed:
            problem = overlay_failure(swapped, order, self.root)
            # What also prevents the restart is one mistake, not two.
            problems = [one for one in problems if one["message"] != problem["message"]]
            problems.append(problem)
        return swapped, problems
