"""Background jobs: `enqueue` and its errors."""

from fxtrio.tasks import (
    TaskQueue,
    TaskQueueError,
    TaskQueueFull,
    TaskQueueNotRunning,
    TaskStatistics,
    enqueue,
)

__all__ = [
    "TaskQueue",
    "TaskQueueError",
    "TaskQueueFull",
    "TaskQueueNotRunning",
    "TaskStatistics",
    "enqueue",
]
