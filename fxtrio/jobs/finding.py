"""Finds the jobs of a project, and makes what runs them. Called by the app's lifespan."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fxtrio.config import JobsConfig
from fxtrio.jobs.declared import Job
from fxtrio.jobs.runner import JobRunner
from fxtrio.jobs.store import JobStore

if TYPE_CHECKING:
    from fxtrio.db import Database

_FOREIGN = frozenset({"site-packages", "dist-packages", ".venv", "venv", "node_modules"})


def make_job_runner(
    settings: JobsConfig, root: Path, database: Database | None
) -> JobRunner | None:
    """Return what runs the jobs of the project in ``root``; None without jobs or a database."""
    found = find_jobs(root)
    if database is None or not found:
        return None
    return JobRunner(
        store=JobStore(database),
        jobs=found,
        workers=settings.workers,
        queues=settings.queues,
        keep=settings.keep,
        keep_failed=settings.keep_failed,
    )


def find_jobs(root: Path) -> dict[str, Job[Any]]:
    """Return the jobs in the imported modules of the project in ``root``, by name."""
    found: dict[str, Job[Any]] = {}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if not file or not Path(file).is_relative_to(root) or _FOREIGN & set(Path(file).parts):
            continue
        for value in list(vars(module).values()):
            # Of its class a proxy may say that there is no request.
            if issubclass(type(value), Job):
                job = cast("Job[Any]", value)
                found[job.name] = job
    return found
