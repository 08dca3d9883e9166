"""Durable jobs: rows of the application's own database, run at least once.

`job` and `every` make a function one; `open_jobs` runs them for as long as the app does.
Re-exported as `fx.jobs`. Begin with `runner`.
"""

from fxtrio.jobs.decorators import Job, every, job
from fxtrio.jobs.errors import (
    CronInvalid,
    JobArgumentsInvalid,
    JobArgumentsMismatch,
    JobError,
    JobKeyInvalid,
    JobsNotRunning,
    JobTimeout,
)
from fxtrio.jobs.running.runner import JobRunner, JobStatistics, open_jobs

__all__ = [
    "CronInvalid",
    "Job",
    "JobArgumentsInvalid",
    "JobArgumentsMismatch",
    "JobError",
    "JobKeyInvalid",
    "JobRunner",
    "JobStatistics",
    "JobTimeout",
    "JobsNotRunning",
    "every",
    "job",
    "open_jobs",
]
