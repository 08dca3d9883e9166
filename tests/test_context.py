"""The running app and the request id are found from wherever a request's work goes."""

import logging

import trio
from starlette.datastructures import State

from fxtrio.app_handle import App, get_app
from fxtrio.context import add_request_id, entered, get_request_id


def make_app() -> App:
    return App(config=None, tasks=None, broker=None, state=State())  # type: ignore[arg-type]


def make_record() -> logging.LogRecord:
    return logging.LogRecord("fx", logging.INFO, __file__, 1, "message", None, None)


def test_outside_a_running_app_there_is_neither_app_nor_request_id():
    assert get_app() is None
    assert get_request_id() is None


def test_the_block_belongs_to_the_app_and_what_follows_does_not():
    app = make_app()
    with entered(app, "a1"):
        assert get_app() is app
        assert get_request_id() == "a1"
    assert get_app() is None


async def test_two_apps_in_one_process_do_not_see_each_other():
    seen = {}

    async def serve(name: str, app: App) -> None:
        with entered(app):
            await trio.testing.wait_all_tasks_blocked()
            seen[name] = get_app()

    first, second = make_app(), make_app()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, "first", first)
        nursery.start_soon(serve, "second", second)

    assert seen == {"first": first, "second": second}


async def test_a_worker_thread_belongs_to_the_request_that_started_it():
    app = make_app()
    with entered(app, "a1"):
        assert await trio.to_thread.run_sync(lambda: (get_app(), get_request_id())) == (app, "a1")


def test_log_records_carry_the_request_id():
    record = make_record()
    with entered(make_app(), "a1"):
        assert add_request_id(record)
    assert record.request_id == "a1"  # type: ignore[attr-defined]


def test_log_records_outside_a_request_carry_a_dash():
    record = make_record()
    add_request_id(record)
    assert record.request_id == "-"  # type: ignore[attr-defined]
