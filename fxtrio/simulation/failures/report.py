"""What a reader gets of a run that has failed."""

from __future__ import annotations

import inspect
import os
from typing import Any

from fxtrio.simulation.runs import Run

_LOG_LINES = 10
_FAULTS = 20


def report(scenario: Any, found: Run, shortest: Run) -> str:
    """Return a note: the seed, the faults, the last steps, and how to repeat it."""
    visitors = [name for name in shortest.visitors if name not in shortest.absent]
    lines = [
        "",
        f"The simulation fails with seed {found.seed}. To run it again:",
        f"    {command(scenario, found.seed)}",
        f"Shortened from {len(found.visitors)} visitors, {len(found.faults)} faults and "
        f"{found.steps} steps to {len(visitors)}, {len(shortest.faults)} and {shortest.steps}.",
    ]
    if shortest.faults:
        lines.append("Faults:")
        lines += [f"    {fault.text}" for fault in shortest.faults[:_FAULTS]]
        if len(shortest.faults) > _FAULTS:
            lines.append(f"    and {len(shortest.faults) - _FAULTS} more")
    if shortest.log:
        lines.append("The log:")
        lines += [f"    {line}" for line in shortest.log[-_LOG_LINES:]]
    if shortest.trace is not None and shortest.trace.last:
        lines.append("The last steps, and where each task waited after its own:")
        lines += [f"    {line}" for line in shortest.trace.lines()]
    return "\n".join(lines)


def command(scenario: Any, seed: int) -> str:
    """Return the command that runs a test with one seed."""
    file = inspect.getsourcefile(scenario) or ""
    name = getattr(scenario, "__name__", "")
    return f"pytest {os.path.relpath(file)} -k {name} --fx-seed {seed}"
