"""Threads enqueue jobs as the event loop does, and get the outcome at once."""

import contextvars
import functools
import threading

import trio
from trio.testing import wait_all_tasks_blocked

from fxtrio.context import entered
from fxtrio.tasks import TaskQueue, TaskQueueFull, TaskQueueNotRunning, enqueue, open_task_queue
from tests.test_tasks import make_app

open_queue = functools.partial(open_task_queue, capacity=100, workers=4, drain_timeout=5)


async def test_worker_threads_and_plain_threads_with_a_copied_context_enqueue():
    ran = []

    async def note(name: str) -> None:
        ran.append(name)

    async with open_queue() as queue:
        with entered(make_app(queue)):
            await trio.to_thread.run_sync(enqueue, note, "to_thread")
            context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(enqueue, note, "plain"))
        thread.start()
        await trio.to_thread.run_sync(thread.join)
    assert sorted(ran) == ["plain", "to_thread"]


async def test_a_thousand_jobs_from_eight_threads_run_exactly_once():
    ran: list[int] = []

    async def note(number: int) -> None:
        ran.append(number)

    async with open_queue(capacity=1000) as queue:
        with entered(make_app(queue)):

            def enqueue_some(start: int) -> None:
                for number in range(start, start + 125):
                    enqueue(note, number)

            async with trio.open_nursery() as nursery:
                for start in range(0, 1000, 125):
                    nursery.start_soon(trio.to_thread.run_sync, enqueue_some, start)
    assert sorted(ran) == list(range(1000))


async def test_threads_never_get_more_than_the_capacity_in():
    rejected = []
    release = trio.Event()

    def enqueue_some(queue: TaskQueue) -> None:
        for _ in range(100):
            try:
                queue.enqueue(trio.sleep, 0)
            except TaskQueueFull:
                rejected.append(1)

    with trio.fail_after(20):
        async with open_queue(capacity=50, workers=1) as queue:
            queue.enqueue(release.wait)  # so that no worker takes a job away
            await wait_all_tasks_blocked()
            async with trio.open_nursery() as nursery:
                for _ in range(8):
                    nursery.start_soon(trio.to_thread.run_sync, enqueue_some, queue)
            assert queue.statistics().waiting == 50
            assert len(rejected) == 8 * 100 - 50
            release.set()


async def enqueue_in_plain_thread(queue: TaskQueue) -> list[BaseException]:
    """Return what a thread that trio does not know gets."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            queue.enqueue(trio.sleep, 0)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    await trio.to_thread.run_sync(thread.join)
    return errors


async def test_a_thread_is_notified_at_once_that_the_queue_is_full():
    async with open_queue(capacity=1, workers=1) as queue:
        release = trio.Event()
        queue.enqueue(release.wait)
        await wait_all_tasks_blocked()
        assert await enqueue_in_plain_thread(queue) == []
        [error] = await enqueue_in_plain_thread(queue)
        assert isinstance(error, TaskQueueFull)
        assert error.capacity == 1
        release.set()


async def test_a_thread_is_notified_at_once_that_the_queue_has_ended():
    async with open_queue() as queue:
        pass
    [error] = await enqueue_in_plain_thread(queue)
    assert isinstance(error, TaskQueueNotRunning)


def test_a_thread_that_outlives_the_event_loop_gets_an_error():
    async def main() -> TaskQueue:
        async with open_queue() as queue:
            return queue

    queue = trio.run(main)
    errors: list[BaseException] = []

    def run() -> None:
        try:
            queue.enqueue(trio.sleep, 0)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert [type(error) for error in errors] == [TaskQueueNotRunning]
