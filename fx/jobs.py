"""Durable jobs: `job`, `every` and their errors."""

from fxtrio.jobs import (
    CronInvalid,
    Job,
    JobArgumentsInvalid,
    JobError,
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
    "JobStatistics",
    "JobTimeout",
    "JobsNotRunning",
    "every",
    "job",
]
