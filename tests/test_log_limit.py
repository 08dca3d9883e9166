"""The log tells once what happens again and again, and then how many times."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator

import attrs
import pytest
import trio
import trio.testing

from fxtrio.log_limit import (
    CAPACITY,
    FROM_ONE_PLACE,
    JOBS,
    JOBS_LOGGED,
    PERIOD,
    SERVER,
    LogLimit,
    Repeats,
    lines_of_clients,
    more_like_it,
    open_log_limit,
)

log = logging.getLogger("fx.serve")


@attrs.define
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def limit(clock: Clock) -> Iterator[LogLimit]:
    log_limit = LogLimit(clock)
    log.addFilter(log_limit)
    yield log_limit
    log.removeFilter(log_limit)


def fail(text: str = "secret 1") -> None:
    try:
        raise ValueError(text)
    except ValueError as error:
        log.error("%s failed", "/page", exc_info=error)


def test_a_failure_that_repeats_is_whole_once_and_then_a_number(
    limit: LogLimit, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(500):
        fail(f"never the same text {number}")
    assert len(caplog.records) == 1
    assert caplog.records[0].exc_info is not None

    clock.now += PERIOD
    limit.log_repeats()
    assert caplog.messages[1:] == ["499 more within 60 s like this: /page failed"]
    assert caplog.records[1].levelno == logging.ERROR

    fail()  # it goes on: only numbers from now on
    clock.now += PERIOD
    limit.log_repeats()
    limit.log_repeats()
    assert caplog.messages[2:] == ["1 more within 60 s like this: /page failed"]


def test_the_first_failures_of_a_job_are_all_whole(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    jobs, limit = logging.getLogger(JOBS), LogLimit(clock)
    jobs.addFilter(limit)
    try:
        for number in range(JOBS_LOGGED + 30):
            clock.now += 0.1
            try:
                raise ValueError(f"job {number}")
            except ValueError as error:
                jobs.error("Job %s failed", "send", exc_info=error)
        limit.log_repeats(early=True)
    finally:
        jobs.removeFilter(limit)
    messages = [record.message for record in caplog.records]
    assert messages == ["Job send failed"] * JOBS_LOGGED + [
        "30 more within 60 s like this: Job send failed"
    ]


def test_after_a_quiet_minute_a_failure_is_whole_again(
    limit: LogLimit, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    fail()
    clock.now += PERIOD
    fail()
    assert [bool(record.exc_info) for record in caplog.records] == [True, True]


def test_failures_of_another_class_or_place_are_distinguished(
    limit: LogLimit, caplog: pytest.LogCaptureFixture
) -> None:
    fail()
    for cause in (KeyError("x"), TypeError("x")):
        log.error("%s failed", "/page", exc_info=cause)
    group = ExceptionGroup("more", [LookupError("x")])
    for _ in range(3):
        log.error("a group", exc_info=group)
    assert len(caplog.records) == 4


def test_records_below_warning_are_not_limited(
    limit: LogLimit, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "fx.serve"):
        for _ in range(3):
            log.info("the same")
    assert len(caplog.records) == 3


def test_what_the_server_logs_of_its_clients_is_limited_too(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    server = logging.getLogger(SERVER)
    limit = LogLimit(clock)
    server.addFilter(limit)
    try:
        with caplog.at_level(logging.INFO, SERVER):
            for port in range(1000):
                server.info("127.0.0.1:%d rejected with 400", port)
            server.info("Stopping")
            clock.now += PERIOD
            limit.log_repeats()
    finally:
        server.removeFilter(limit)
    message = "900 more within 60 s like this: other messages of fx.server"
    assert caplog.messages[FROM_ONE_PLACE:] == ["Stopping", message]


def test_texts_that_always_differ_are_limited_by_where_they_are_written(
    limit: LogLimit, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(5000):
        log.warning("path %d", number)
    log.warning("another line of code")
    assert len(caplog.records) == FROM_ONE_PLACE + 1
    clock.now += PERIOD
    limit.log_repeats()
    assert caplog.messages[-1] == "4900 more within 60 s like this: other messages of fx.serve"


def test_the_log_limit_has_a_capacity() -> None:
    seen: Repeats[int] = Repeats(60, CAPACITY)
    added = sum(seen.add(key, 0) for key in range(5000))
    assert added == CAPACITY
    assert seen.repeats(0, 1) and not seen.repeats(4000, 1)
    assert seen.take_due(59) == [] and seen.take_due(60) == [(0, 1)]
    assert seen.add(4000, 61)  # those that did not come again have made room


async def test_suppressed_records_are_counted_each_minute_and_at_the_end(
    autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_log_limit(LogLimit(autojump_clock.current_time)):
        await trio.testing.wait_all_tasks_blocked()
        autojump_clock.autojump_threshold = math.inf  # no time passes while a thread runs
        for _ in range(4):
            await trio.to_thread.run_sync(fail)
        autojump_clock.autojump_threshold = 0
        await trio.sleep(PERIOD + 1)
        assert caplog.messages == ["/page failed", "3 more within 60 s like this: /page failed"]
        fail()
        fail()
    assert caplog.messages[2:] == ["2 more within 60 s like this: /page failed"]
    assert log.filters == []


def test_a_line_of_clients_comes_once_a_minute_and_then_says_how_many_were_held_back() -> None:
    repeats = lines_of_clients()

    counts = [repeats.again("handshake", now) for now in (0, 1, 59, 60, 119, 180, 400)]

    assert counts == [0, None, None, 2, None, 1, 0]
    assert more_like_it(2) == " (and 2 more in the last minute)"
    assert more_like_it(0) == ""


def test_lines_of_clients_hold_each_other_back_only_when_there_are_too_many() -> None:
    repeats = lines_of_clients()
    counts = [repeats.again(str(number), 0) for number in range(CAPACITY + 1)]

    assert counts == [0] * CAPACITY + [None]
    assert repeats.again("another", PERIOD) == 0
