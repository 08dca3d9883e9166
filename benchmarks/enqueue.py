"""How many no-op jobs a second one action can enqueue, and how many get done.

    python -m benchmarks.enqueue [--jobs 50000] [--rounds 9] [--json]

One round is what one action does: it enqueues ``jobs`` jobs without waiting, then
the workers run them. ``enqueued`` counts only the time of the calls; ``completed``
the time from the first call to the end of the last job. Figures are medians.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

import trio
from starlette.datastructures import State

from fxtrio.app_handle import App
from fxtrio.context import entered
from fxtrio.tasks import TaskQueue, enqueue, open_task_queue


async def async_no_op() -> None:
    pass


async def waiting_no_op() -> None:
    await trio.lowlevel.checkpoint()


def plain_no_op() -> None:
    pass


async def run_round(queue: TaskQueue, job: Callable[[], object], jobs: int) -> tuple[float, float]:
    """Return jobs enqueued and jobs completed a second."""
    done = queue.statistics().completed + jobs
    start = time.perf_counter()
    for _ in range(jobs):
        enqueue(job)
    enqueued = time.perf_counter()
    while queue.statistics().completed < done:  # an event would be timed too
        await trio.lowlevel.checkpoint()
    completed = time.perf_counter()
    return jobs / (enqueued - start), jobs / (completed - start)


async def measure(jobs: int, rounds: int) -> dict[str, dict[str, float]]:
    """Return ``{kind of job: {"enqueued": a second, "completed": a second}}``."""
    kinds: dict[str, tuple[Callable[[], object], int]] = {
        "async": (async_no_op, jobs),
        "async, waits once": (waiting_no_op, jobs // 10),
        "plain, in a thread": (plain_no_op, jobs // 50),
    }
    results = {}
    async with open_task_queue(capacity=jobs, workers=4, drain_timeout=10) as queue:
        app = App(config=None, tasks=queue, broker=None, state=State())  # type: ignore[arg-type]  # no others are used
        with entered(app, "0" * 32):
            for kind, (job, count) in kinds.items():
                await run_round(queue, job, count)  # a warm-up
                figures = [await run_round(queue, job, count) for _ in range(rounds)]
                enqueued, completed = (
                    statistics.median(column) for column in zip(*figures, strict=True)
                )
                results[kind] = {"enqueued": round(enqueued), "completed": round(completed)}
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = trio.run(measure, options.jobs, options.rounds)
    if options.json:
        print(json.dumps(results))
        return
    for kind, figures in results.items():
        print(f"{kind:20}{figures['enqueued']:>12,} enqueued/s{figures['completed']:>12,} done/s")


if __name__ == "__main__":
    main()
