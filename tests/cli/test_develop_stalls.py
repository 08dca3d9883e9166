"""In development a call that holds the event loop is named, once, with its place."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import trio

from fxtrio.develop.report.blocking_calls import watch_stalls
from fxtrio.serve import dispatch


class Freeing(logging.Handler):
    """Ends the call that blocks the loop as soon as it is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []
        self.go = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())
        self.go.set()


@pytest.fixture
def handler() -> Iterator[Freeing]:
    handler = Freeing()
    logger = logging.getLogger("fx.dev")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)


def hold(go: threading.Event, longest: float) -> bool:
    return go.wait(longest)


async def test_what_holds_the_event_loop_is_named_once(handler: Freeing) -> None:
    with watch_stalls():
        await trio.lowlevel.checkpoint()
        assert hold(handler.go, 10)
        await trio.lowlevel.checkpoint()
        handler.go.clear()
        assert not hold(handler.go, 0.3)
        await trio.lowlevel.checkpoint()
    [message] = handler.messages
    line = hold.__code__.co_firstlineno + 1
    assert f"test_develop_stalls.py:{line}: hold() blocked the event loop" in message
    assert "trio.to_thread.run_sync" in message


async def test_middleware_is_not_blamed_for_what_it_is_around(handler: Freeing) -> None:
    names: dict[str, Any] = {}
    exec(compile("def serve(go): return go.wait(0.3)", dispatch.__file__, "exec"), names)

    def middleware() -> None:
        assert names["serve"](handler.go) is False

    with watch_stalls():
        await trio.lowlevel.checkpoint()
        middleware()
        await trio.lowlevel.checkpoint()
    assert handler.messages == []


async def test_what_waits_or_runs_in_a_thread_is_not_reported(handler: Freeing) -> None:
    begun = threading.Event()

    def work() -> None:
        begun.set()
        assert handler.go.wait(0.3) is False

    with watch_stalls():
        await trio.to_thread.run_sync(work)
    assert begun.is_set()
    assert handler.messages == []


async def test_nothing_is_left_when_the_block_has_ended(handler: Freeing) -> None:
    with watch_stalls():
        pass
    with trio.fail_after(5):
        while any(thread.name == "fx-stalls" for thread in threading.enumerate()):
            await trio.lowlevel.checkpoint()
