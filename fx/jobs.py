"""Durable jobs: `job`, `every` and their errors."""

from fxtrio.jobs import (
    CronInvalid,
    Job,
    JobArgumentsInvalid,
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
    "JobError",
    "JobKeyInvalid",
    "JobStatistics",
    "JobTimeout",
    "JobsNotRunning",
    "every",
    "job",
]
