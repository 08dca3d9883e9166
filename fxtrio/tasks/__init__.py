"""Background jobs: `enqueue` a call, and the app's workers run it.

Begin with `queue`; `calls` is what a job is: named, recognised and driven.
"""

from fxtrio.errors import TaskQueueError, TaskQueueFull, TaskQueueNotRunning
from fxtrio.tasks.queue import TaskQueue, TaskStatistics, enqueue, open_task_queue

__all__ = [
    "TaskQueue",
    "TaskQueueError",
    "TaskQueueFull",
    "TaskQueueNotRunning",
    "TaskStatistics",
    "enqueue",
    "open_task_queue",
]
