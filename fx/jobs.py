"""Durable jobs: `job`, `every` and their errors."""

from fxtrio.jobs import (
    CronInvalid,
    Job,
    JobArgumentsInvalid,
    JobArgumentsMismatch,
    JobError,
    JobKeyInvalid,
    JobsNotRunning,
    JobStatistics,
    JobTimeout,
    every,
    job,
)

__all__ = [
    "CronInvalid",
    "Job",
    "JobArgumentsInvalid",
    "JobArgumentsMismatch",
    "JobError",
    "JobKeyInvalid",
    "JobStatistics",
    "JobTimeout",
    "JobsNotRunning",
    "every",
    "job",
]
