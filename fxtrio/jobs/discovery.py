"""Finds the jobs of a project, and creates their runner. Called by the app's lifespan."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fxtrio.config import JobsConfig
from fxtrio.jobs.decorators import Job
from fxtrio.jobs.running.job_clock import JobClock
from fxtrio.jobs.running.runner import JobRunner
from fxtrio.jobs.store import JobStore

if TYPE_CHECKING:
    from fxtrio.db import Database

_FOREIGN = tuple(
    f"{os.sep}{name}{os.sep}"
    for name in ("site-packages", "dist-packages", ".venv", "venv", "node_modules")
)


def make_job_runner(
    settings: JobsConfig, root: Path, database: Database, clock: JobClock | None = None
) -> JobRunner | None:
    """Return the runner for the jobs of the project in ``root``; None without jobs.

    ``clock`` is the jobs' clock; None for one that follows the database.
    """
    found = find_jobs(root)
    if not found:
        return None
    return JobRunner(
        store=JobStore(database),
        jobs=found,
        workers=settings.workers,
        queues=settings.queues,
        keep=settings.keep,
        keep_failed=settings.keep_failed,
        clock=clock or JobClock.started(),
    )


def imported_modules() -> Iterable[object]:
    """Return the modules in which jobs may be."""
    return list(sys.modules.values())


def find_jobs(root: Path) -> dict[str, Job[Any]]:
    """Return the jobs in the imported modules of the project in ``root``, by name."""
    found: dict[str, Job[Any]] = {}
    below = os.path.join(root, "")  # noqa: PTH118 - with a separator at its end
    for module in imported_modules():
        # There may be thousands of modules: a call for each takes long, and a `Path` longer.
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not file.startswith(below):
            continue
        if any(folder in file for folder in _FOREIGN):
            continue
        for value in list(vars(module).values()):
            # Of its class a proxy may say that there is no request.
            if issubclass(type(value), Job):
                job = cast("Job[Any]", value)
                found[job.name] = job
    return found
