"""Background jobs are taken without waiting, run once, and never cost a worker."""

import contextvars
import functools
import inspect
import logging
import sys
import threading

import attrs
import pytest
import trio
from starlette.datastructures import State
from trio.testing import MockClock, wait_all_tasks_blocked

import fx.tasks
from fxtrio.app_handle import App, get_app
from fxtrio.context import add_request_id, entered
from fxtrio.tasks import (
    TaskQueue,
    TaskQueueError,
    TaskQueueFull,
    TaskQueueNotRunning,
    enqueue,
    open_task_queue,
)
from fxtrio.tasks.calls import name_of

open_queue = functools.partial(open_task_queue, capacity=100, workers=4, drain_timeout=5)


def make_app(queue: TaskQueue) -> App:
    return App(config=None, tasks=queue, broker=None, state=State())  # type: ignore[arg-type]


async def fail(error: BaseException) -> None:
    raise error


# --- what counts as which kind of job


class Recorder:
    """Jobs of every kind; each notes its arguments and the thread it ran in."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    async def method(self, *args: object, **kwargs: object) -> None:
        await trio.lowlevel.checkpoint()
        self.calls.append((*args, kwargs, threading.current_thread()))

    def plain(self, *args: object, **kwargs: object) -> None:
        self.calls.append((*args, kwargs, threading.current_thread()))

    async def __call__(self, *args: object, **kwargs: object) -> None:
        await self.method(*args, **kwargs)


class PlainCallable:
    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def __call__(self, *args: object, **kwargs: object) -> None:
        self.recorder.plain(*args, **kwargs)


@pytest.mark.parametrize(
    "make",
    [
        lambda recorder: recorder.method,
        lambda recorder: recorder,
        lambda recorder: functools.partial(recorder.method),
        lambda recorder: functools.partial(functools.partial(recorder)),
    ],
    ids=["bound method", "async __call__", "partial", "partial of a partial"],
)
async def test_async_functions_are_awaited_in_the_event_loop(make):
    recorder = Recorder()
    async with open_queue() as queue:
        queue.enqueue(make(recorder), 1, func=2)
    assert recorder.calls == [(1, {"func": 2}, threading.current_thread())]


@pytest.mark.parametrize(
    "make",
    [
        lambda recorder: recorder.plain,
        lambda recorder: PlainCallable(recorder),
        lambda recorder: functools.partial(recorder.plain),
        lambda recorder: lambda *args, **kwargs: recorder.plain(*args, **kwargs),
    ],
    ids=["bound method", "object", "partial", "lambda"],
)
async def test_plain_functions_are_called_in_a_thread(make):
    recorder = Recorder()
    async with open_queue() as queue:
        queue.enqueue(make(recorder), 1, func=2)
    [(first, kwargs, thread)] = recorder.calls
    assert (first, kwargs) == (1, {"func": 2})
    assert thread is not threading.current_thread()


async def test_an_awaitable_that_a_plain_callable_returns_is_awaited():
    recorder = Recorder()
    async with open_queue() as queue:
        queue.enqueue(lambda: recorder.method("awaited"))
    assert recorder.calls == [("awaited", {}, threading.current_thread())]


async def test_a_coroutine_function_behind_a_plain_decorator_is_awaited():
    recorder = Recorder()

    @functools.wraps(recorder.method)
    def wrapper(*args):
        return recorder.method(*args)

    async with open_queue() as queue:
        queue.enqueue(wrapper, "awaited")
    assert recorder.calls == [("awaited", {}, threading.current_thread())]


async def test_a_class_is_a_plain_callable():
    threads: list[threading.Thread | None] = []

    class Report:
        def __init__(self) -> None:
            threads.append(threading.current_thread())

        async def __call__(self) -> None:
            threads.append(None)

    async with open_queue() as queue:
        queue.enqueue(Report)
    assert len(threads) == 1
    assert threads[0] is not threading.current_thread()


async def test_an_asynchronous_generator_is_an_error_and_not_silently_nothing(caplog):
    async def steps():
        yield 1

    async with open_queue() as queue:
        queue.enqueue(steps)
    assert queue.statistics().failed == 1
    assert "asynchronous generator" in caplog.text


async def test_a_coroutine_instead_of_its_function_is_rejected_and_closed():
    async with open_queue() as queue:
        coroutine = fail(ValueError())
        with pytest.raises(TypeError, match=r"enqueue\(fail, …\)"):
            queue.enqueue(coroutine)  # type: ignore[arg-type]
        assert inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED


async def test_what_cannot_be_called_is_rejected():
    async with open_queue() as queue:
        with pytest.raises(TypeError, match="not 'send_mail'"):
            queue.enqueue("send_mail")  # type: ignore[arg-type]


# --- where jobs may be enqueued


def test_enqueue_outside_a_running_app_raises():
    with pytest.raises(TaskQueueNotRunning, match=r"test_tasks\.fail"):
        enqueue(fail, ValueError())


async def test_enqueue_after_the_app_ended_raises():
    async with open_queue() as queue:
        app = make_app(queue)
    with entered(app), pytest.raises(TaskQueueNotRunning):
        enqueue(fail, ValueError())


def test_both_errors_are_task_queue_errors():
    assert issubclass(TaskQueueFull, TaskQueueError)
    assert issubclass(TaskQueueNotRunning, TaskQueueError)


def test_the_names_of_the_contract_are_in_fx_tasks():
    assert fx.tasks.enqueue is enqueue
    assert fx.tasks.TaskQueueFull is TaskQueueFull
    assert fx.tasks.TaskQueueNotRunning is TaskQueueNotRunning


async def test_enqueue_reaches_the_queue_of_the_app_it_is_called_for():
    ran = []

    async def note(name: str, app: App) -> None:
        ran.append((name, get_app() is app))

    async with open_queue() as first, open_queue() as second:
        for name, app in {"first": make_app(first), "second": make_app(second)}.items():
            with entered(app):
                enqueue(note, name, app)
    assert sorted(ran) == [("first", True), ("second", True)]
    assert first.statistics().completed == second.statistics().completed == 1


async def test_a_job_enqueues_another_job():
    ran = []

    async def inner() -> None:
        ran.append("inner")

    async def outer() -> None:
        enqueue(inner)

    async with open_queue() as queue:
        with entered(make_app(queue)):
            enqueue(outer)
        await wait_all_tasks_blocked()
    assert ran == ["inner"]


# --- it never waits, and never grows


async def test_a_task_handed_to_an_idle_worker_counts_as_running():
    async with open_queue(workers=1) as queue:
        await wait_all_tasks_blocked()
        queue.enqueue(trio.sleep, 0)
        queue.enqueue(trio.sleep, 0)
        statistics = queue.statistics()
    assert (statistics.running, statistics.waiting) == (1, 1)


async def test_a_task_handed_to_a_worker_at_the_deadline_is_counted(
    autojump_clock: MockClock, caplog
):
    async with open_queue(workers=1, drain_timeout=0) as queue:
        await wait_all_tasks_blocked()
        queue.enqueue(trio.sleep, 1)
    statistics = queue.statistics()
    assert (statistics.cancelled, statistics.running, statistics.waiting) == (1, 0, 0)
    assert "trio" in caplog.text


async def test_no_job_is_taken_once_the_workers_were_cancelled():
    rejected = []
    with trio.CancelScope() as scope:
        async with open_queue() as queue:
            await wait_all_tasks_blocked()
            scope.cancel()
            with trio.CancelScope(shield=True):
                await wait_all_tasks_blocked()
                try:
                    queue.enqueue(trio.sleep, 0)
                except TaskQueueNotRunning as error:
                    rejected.append(error)
    assert len(rejected) == 1


async def test_a_queue_at_capacity_rejects_with_its_capacity():
    async with open_queue(capacity=2, workers=1) as queue:
        queue.enqueue(trio.sleep, 0)
        queue.enqueue(trio.sleep, 0)
        with pytest.raises(TaskQueueFull, match="2 jobs already wait") as caught:
            queue.enqueue(trio.sleep, 0)
    assert caught.value.capacity == 2
    assert queue.statistics().completed == 2


async def test_running_jobs_do_not_count_as_waiting(autojump_clock: MockClock):
    async with open_queue(capacity=1, workers=1) as queue:
        queue.enqueue(trio.sleep, 1)
        await wait_all_tasks_blocked()
        queue.enqueue(trio.sleep, 1)
        statistics = queue.statistics()
    assert (statistics.running, statistics.waiting) == (1, 1)


@pytest.mark.parametrize("wrong", [{"capacity": 0}, {"workers": 0}])
async def test_a_queue_without_capacity_or_workers_is_rejected(wrong):
    with pytest.raises(ValueError, match="must be >= 1"):
        async with open_queue(**wrong):
            pass


async def test_as_many_jobs_run_at_a_time_as_there_are_workers(autojump_clock: MockClock):
    async with open_queue(workers=3, drain_timeout=100) as queue:
        for _ in range(9):
            queue.enqueue(trio.sleep, 1)
    assert trio.current_time() == 3


async def test_plain_jobs_run_side_by_side_in_as_many_threads_as_there_are_workers():
    barrier = threading.Barrier(3, timeout=10)
    with trio.fail_after(20):
        async with open_queue(workers=3) as queue:
            for _ in range(3):
                queue.enqueue(barrier.wait)
    assert queue.statistics().completed == 3


async def test_jobs_that_never_wait_leave_others_their_turn():
    turns: list[str] = []

    async def again() -> None:
        if not turns:
            enqueue(again)

    async with open_queue() as queue:
        with entered(make_app(queue)), trio.fail_after(10):
            enqueue(again)
            await trio.sleep(0.01)
        turns.append("the loop was not starved")


async def test_the_oldest_job_runs_first():
    ran = []

    async def note(number: int) -> None:
        ran.append(number)

    async with open_queue(workers=1) as queue:
        for number in range(20):
            queue.enqueue(note, number)
    assert ran == list(range(20))


async def test_statistics_are_a_frozen_snapshot():
    async with open_queue() as queue:
        before = queue.statistics()
        queue.enqueue(trio.sleep, 0)
        assert (before.waiting, queue.statistics().waiting) == (0, 1)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        before.waiting = 3  # type: ignore[misc]
    assert "completed=1" in repr(queue)


# --- context variables

colour = contextvars.ContextVar("colour", default="none")


@pytest.mark.parametrize("in_thread", [False, True])
async def test_each_job_has_a_copy_of_the_context_of_who_enqueued_it(in_thread):
    seen = []

    def look() -> None:
        seen.append(colour.get())
        colour.set("changed by a job")

    async def look_async() -> None:
        seen.append(colour.get())
        colour.set("changed by a job")
        await trio.lowlevel.checkpoint()
        seen.append(colour.get())

    async with open_queue(workers=1) as queue:
        for name in ("red", "blue"):
            colour.set(name)
            queue.enqueue(look if in_thread else look_async)
            queue.enqueue(look if in_thread else look_async)
    expected = ["red", "red", "blue", "blue"]
    if in_thread:
        assert seen == expected
    else:
        assert seen[::2] == expected
        assert set(seen[1::2]) == {"changed by a job"}
    assert colour.get() == "blue"


async def test_nurseries_and_threads_of_a_job_inherit_its_context():
    seen = []

    async def look() -> None:
        seen.append(colour.get())

    async def job() -> None:
        await trio.lowlevel.checkpoint()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(look)
        seen.append(await trio.to_thread.run_sync(colour.get))

    async with open_queue() as queue:
        colour.set("green")
        queue.enqueue(job)
    assert seen == ["green", "green"]


async def test_log_lines_of_a_job_carry_the_request_id(caplog):
    caplog.handler.addFilter(add_request_id)

    async def job() -> None:
        logging.getLogger("shop").warning("from the job")
        raise ValueError("broken")

    async with open_queue() as queue:
        with entered(make_app(queue), "f00d"):
            enqueue(job)
    ids = {(record.name, record.request_id) for record in caplog.records}
    assert ids == {("shop", "f00d"), ("fx.tasks", "f00d")}


# --- failing jobs


async def test_a_failing_job_is_logged_with_its_traceback_on_fx_tasks(caplog):
    async with open_queue() as queue:
        queue.enqueue(fail, ValueError("out of paper"))
    [record] = caplog.records
    assert record.name == "fx.tasks"
    assert record.levelno == logging.ERROR
    assert f"{__name__}.fail" in record.getMessage()
    assert "in fail\n    raise error\nValueError: out of paper" in caplog.text


class CancelsItself:
    """Cancels the nursery its worker runs in, as a job that went astray would."""

    async def __call__(self) -> None:
        nursery = trio.lowlevel.current_task().parent_nursery
        assert nursery is not None
        nursery.cancel_scope.cancel()
        await trio.lowlevel.checkpoint()


async def leave_a_cancelled_scope_open() -> None:
    scope = trio.CancelScope()
    scope.__enter__()
    scope.cancel()


async def leave_a_nursery_open() -> None:
    nursery = await trio.open_nursery().__aenter__()
    nursery.start_soon(trio.sleep_forever)


async def fail_after_a_wait(error: BaseException) -> None:
    await trio.lowlevel.checkpoint()
    raise error


async def cancel_own_scope() -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        await trio.sleep_forever()


async def fail_with_a_group() -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(fail, ValueError("one"))
        nursery.start_soon(fail, KeyError("two"))


@pytest.mark.parametrize(
    "job",
    [
        functools.partial(fail, ValueError()),
        functools.partial(fail, KeyboardInterrupt()),
        functools.partial(fail, SystemExit(3)),
        functools.partial(fail_after_a_wait, KeyboardInterrupt()),
        functools.partial(fail_after_a_wait, SystemExit(3)),
        functools.partial(fail, BaseExceptionGroup("several", [SystemExit(), ValueError()])),
        fail_with_a_group,
        cancel_own_scope,
        CancelsItself(),
        functools.partial(fail),  # an argument too few
        functools.partial(fail, GeneratorExit()),
        functools.partial(fail, StopIteration()),
        functools.partial(fail, StopAsyncIteration()),
    ],
    ids=lambda job: getattr(job, "__name__", type(job).__name__),
)
async def test_no_job_costs_a_worker(job, autojump_clock: MockClock):
    async with open_queue(workers=4, drain_timeout=100) as queue:
        for _ in range(4):
            queue.enqueue(job)
        await trio.sleep(1)
        start = trio.current_time()
        for _ in range(8):
            queue.enqueue(trio.sleep, 1)
        await trio.sleep(5)
        assert queue.statistics().running == 0
        assert trio.current_time() == start + 5
    statistics = queue.statistics()
    assert statistics.completed + statistics.failed + statistics.cancelled == 12
    assert statistics.completed >= 8


async def test_sys_exit_in_a_plain_job_costs_no_worker(caplog):
    async with open_queue(workers=4) as queue:
        for _ in range(8):
            queue.enqueue(sys.exit, 3)
    assert queue.statistics().failed == 8
    assert "SystemExit: 3" in caplog.text


async def test_a_job_that_leaves_a_cancelled_scope_open_costs_no_worker(autojump_clock: MockClock):
    async with open_queue(workers=1, drain_timeout=100) as queue:
        queue.enqueue(leave_a_cancelled_scope_open)
        queue.enqueue(trio.sleep, 1)  # the one that may pay for it
        await trio.sleep(2)
        queue.enqueue(trio.sleep, 1)
    statistics = queue.statistics()
    assert statistics.completed >= 2
    assert statistics.completed + statistics.cancelled == 3


async def test_a_job_that_leaves_a_nursery_open_does_not_break_the_shutdown(caplog):
    async with open_queue(workers=1) as queue:
        queue.enqueue(leave_a_nursery_open)
        await wait_all_tasks_blocked()
    assert queue.statistics().completed == 1
    assert "A job ended its worker task" in caplog.text


async def test_a_job_that_cancels_itself_is_logged_by_name(caplog):
    async with open_queue() as queue:
        queue.enqueue(CancelsItself())
        await wait_all_tasks_blocked()
    assert f"{__name__}.CancelsItself was cancelled: it cancelled itself" in caplog.text


# --- the end


async def test_jobs_get_the_drain_timeout_and_no_more(autojump_clock: MockClock, caplog):
    finished = []

    async def job(seconds: float) -> None:
        await trio.sleep(seconds)
        finished.append(seconds)

    async with open_queue(workers=2, drain_timeout=5) as queue:
        queue.enqueue(job, 1)
        queue.enqueue(job, 3600)

    assert finished == [1]
    assert trio.current_time() == 5
    assert ".job was cancelled: the shutdown reached its time limit" in caplog.text


async def test_waiting_jobs_run_during_the_drain(autojump_clock: MockClock):
    async with open_queue(workers=1, drain_timeout=5) as queue:
        for _ in range(4):
            queue.enqueue(trio.sleep, 1)
    assert queue.statistics().completed == 4
    assert trio.current_time() == 4


async def test_an_idle_queue_ends_at_once(autojump_clock: MockClock):
    async with open_queue():
        await wait_all_tasks_blocked()
    assert trio.current_time() == 0


async def test_jobs_that_never_got_a_worker_are_named_in_the_log(autojump_clock: MockClock, caplog):
    async with open_queue(workers=1, drain_timeout=5) as queue:
        queue.enqueue(trio.sleep_forever)
        await wait_all_tasks_blocked()
        for _ in range(3):
            queue.enqueue(fail, ValueError())
    assert f"Dropped at shutdown before they could run: {__name__}.fail (3)" in caplog.text
    statistics = queue.statistics()
    assert (statistics.cancelled, statistics.waiting) == (4, 0)


async def test_no_job_is_taken_during_the_drain(autojump_clock: MockClock):
    outcomes = []

    async def enqueue_another() -> None:
        await trio.sleep(1)
        try:
            enqueue(fail, ValueError())
        except TaskQueueNotRunning as error:
            outcomes.append(error)

    async with open_queue() as queue:
        with entered(make_app(queue)):
            enqueue(enqueue_another)
        await wait_all_tasks_blocked()
    assert len(outcomes) == 1


async def test_draining_ends_the_jobs_while_the_block_continues(autojump_clock: MockClock):
    async with open_queue(drain_timeout=50) as queue:
        queue.enqueue(trio.sleep, 1)
        queue.enqueue(trio.sleep_forever)
        await queue.drain(5)
        assert trio.current_time() == 5
        with pytest.raises(TaskQueueNotRunning):
            queue.enqueue(trio.sleep, 0)
        await trio.sleep(1)
    assert trio.current_time() == 6
    statistics = queue.statistics()
    assert (statistics.completed, statistics.cancelled) == (1, 1)


async def test_draining_waits_no_longer_than_the_jobs_take(autojump_clock: MockClock):
    async with open_queue() as queue:
        queue.enqueue(trio.sleep, 2)
        await queue.drain(50)
        await queue.drain(50)
        assert trio.current_time() == 2


async def test_a_thread_that_hangs_cannot_stretch_the_shutdown(autojump_clock: MockClock, caplog):
    autojump_clock.autojump_threshold = 0.05  # the clock must not outrun the start of the thread
    started, release = threading.Event(), threading.Event()

    def hang() -> None:
        started.set()
        release.wait(20)

    try:
        async with open_queue(drain_timeout=5) as queue:
            queue.enqueue(hang)
            await trio.to_thread.run_sync(started.wait, 20)
        assert trio.current_time() == 5
        assert ".hang was cancelled" in caplog.text
    finally:
        release.set()


async def test_a_job_that_fails_while_it_is_cancelled_is_logged_as_both(
    autojump_clock: MockClock, caplog
):
    async def fail_in_cleanup() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise ValueError("cleanup")

    async def job() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail_in_cleanup)
            nursery.start_soon(trio.sleep_forever)

    async with open_queue(drain_timeout=1) as queue:
        queue.enqueue(job)
        await wait_all_tasks_blocked()
    assert trio.current_time() == 1
    assert "ValueError: cleanup" in caplog.text


async def test_a_block_that_fails_cancels_its_jobs_at_once(autojump_clock: MockClock):
    with pytest.raises(ExceptionGroup) as caught:
        async with open_queue(drain_timeout=5) as queue:
            queue.enqueue(trio.sleep_forever)
            await wait_all_tasks_blocked()
            raise ValueError("the body")
    assert caught.group_contains(ValueError, match="the body")
    assert trio.current_time() == 0
    assert queue.statistics().cancelled == 1


async def test_a_cancelled_block_cancels_its_jobs(autojump_clock: MockClock):
    with trio.move_on_after(1) as scope:
        async with open_queue(drain_timeout=50) as queue:
            queue.enqueue(trio.sleep_forever)
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert trio.current_time() == 1
    assert queue.statistics().running == 0


def test_jobs_of_pages_are_called_like_their_files() -> None:
    def job() -> None: ...

    job.__module__, job.__qualname__ = "fxpages_8d28951f0e92.pages_fail_fxl", "job"
    assert name_of(job) == "pages_fail_fxl.job"
