"""The lifespan by ASGI's specification: what it may do, and what ends the server."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from starlette.applications import Starlette
from trio.testing import MockClock, wait_all_tasks_blocked

from fxtrio.server.supervise.application.lifespan import (
    Lifespan,
    LifespanEnded,
    LifespanFailed,
    LifespanTooSlow,
    start_lifespan,
)
from fxtrio.server.supervise.hypercorn_config import make_config
from fxtrio.server.supervise.options import ServeOptions

from .rules import get
from .support import App, Records, open_server, response

STARTED = {"type": "lifespan.startup.complete"}
STOPPED = {"type": "lifespan.shutdown.complete"}


def lasting(*steps: Any) -> App:
    """Return an application whose lifespan does these steps: receive, send, raise or wait."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await response()(scope, receive, send)
            return
        assert scope["asgi"]["version"] == "3.0"
        assert scope["state"] == {}
        for step in steps:
            if isinstance(step, str):
                assert await receive() == {"type": f"lifespan.{step}"}
            elif isinstance(step, dict):
                await send(step)
            elif isinstance(step, float):
                await trio.sleep(step)
            else:
                raise step

    return app


SERVED: dict[str, list[Any]] = {
    "both messages": ["startup", STARTED, "shutdown", STOPPED],
    "an end with the last message": ["startup", STARTED, "shutdown"],
    "an end after the start": ["startup", STARTED],
    "an end before the start": ["startup"],
    "no look at it": [],
    "told twice": ["startup", STARTED, STARTED, "shutdown", STOPPED],
}


@pytest.mark.parametrize("case", SERVED)
async def test_a_lifespan_may_end_quietly(case: str) -> None:
    async with open_server(lasting(*SERVED[case]), lifespan=True) as server:
        assert (await server.ask(get())).startswith(b"HTTP/1.1 200 ")


IGNORED: dict[str, tuple[list[Any], str]] = {
    "an error before the start": (["startup", LookupError("db\ndown")], "LookupError: db"),
    "several errors": (["startup", ExceptionGroup("many", [OSError("down")])], "OSError: down"),
    "an unknown message": (["startup", {"type": "unheard"}], "UnexpectedMessageError: unheard"),
}


@pytest.mark.parametrize("case", IGNORED)
async def test_an_application_whose_lifespan_fails_is_served_with_a_warning(case: str) -> None:
    steps, reason = IGNORED[case]
    async with open_server(lasting(*steps), lifespan=True) as server:
        assert (await server.ask(get())).startswith(b"HTTP/1.1 200 ")
        (record,) = server.log.take(30)
        assert record.getMessage().endswith(f"is served without it: {reason}")


async def test_an_application_that_knows_no_lifespan_is_served_without_a_warning() -> None:
    async with open_server(lasting(LookupError("only http")), lifespan=True) as server:
        messages = [record.getMessage() for record in server.log.take(20)]
        assert "The application is served without a lifespan: LookupError: only http" in messages
        assert (await server.ask(get())).startswith(b"HTTP/1.1 200 ")


async def test_a_long_start_is_reported_before_its_time_is_over(autojump_clock: MockClock) -> None:
    log = Records()
    config = make_config(ServeOptions(app="", startup=9))
    config.errorlog = logging.Logger("server under test", logging.DEBUG)
    config.errorlog.addHandler(log)
    lifespan = Lifespan(lasting("startup", 10.0), config, {})
    with pytest.RaisesGroup(LifespanTooSlow, flatten_subgroups=True):
        async with trio.open_nursery() as nursery:
            await start_lifespan(lifespan, nursery)
    (record,) = log.records
    assert record.getMessage() == "The application is still starting; it has 9 s in all"


async def test_an_application_may_stop_waiting_for_a_message_and_wait_again(
    autojump_clock: MockClock,
) -> None:
    heard: list[str] = []

    async def polling(scope: Any, receive: Any, send: Any) -> None:
        while len(heard) < 2:
            with trio.move_on_after(1):
                heard.append((await receive())["type"])
                if len(heard) == 1:
                    await send(STARTED)
        await send(STOPPED)

    lifespan = Lifespan(polling, make_config(ServeOptions(app="")), {})
    async with trio.open_nursery() as nursery:
        await start_lifespan(lifespan, nursery)
        await trio.sleep(5)
        await lifespan.wait_for_shutdown()
    assert heard == ["lifespan.startup", "lifespan.shutdown"]


FAILED = {"type": "lifespan.startup.failed", "message": "no database"}
STOP_FAILED = {"type": "lifespan.shutdown.failed", "message": "not flushed"}
ENDED: dict[str, tuple[list[Any], type[Exception], str]] = {
    "a start that failed": (["startup", FAILED], LifespanFailed, "no database"),
    "a start that failed without a word": (
        ["startup", {"type": "lifespan.startup.failed"}],
        *(LifespanFailed, "in startup"),
    ),
    "a shutdown that failed": (
        ["startup", STARTED, "shutdown", STOP_FAILED],
        *(LifespanFailed, "not flushed"),
    ),
    "an error while it serves": (
        ["startup", STARTED, 0.05, LookupError()],
        LifespanEnded,
        "ended while",
    ),
}


@pytest.mark.parametrize("case", ENDED)
async def test_a_lifespan_that_fails_ends_the_server(case: str) -> None:
    steps, error, words = ENDED[case]
    with pytest.RaisesGroup(
        pytest.RaisesExc(error, match=words), flatten_subgroups=True, allow_unwrapped=True
    ):
        async with open_server(lasting(*steps), lifespan=True) as server:
            if error is LifespanEnded:
                await server.errors()
                await trio.sleep(1)


async def test_a_start_that_is_cancelled_is_no_failure() -> None:
    @asynccontextmanager
    async def opened(app: Starlette) -> AsyncIterator[None]:
        await trio.sleep_forever()
        yield

    lifespan = Lifespan(Starlette(lifespan=opened), make_config(ServeOptions(app="")), {})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lifespan.run)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()  # the server stops meanwhile
