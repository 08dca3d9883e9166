"""The lifespan by ASGI's specification: what it may do, and what ends the server."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from hypercorn.utils import LifespanFailureError

from fxtrio.errors import LifespanEnded

from .rules import get
from .support import App, open_server, response

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


IGNORED: dict[str, list[Any]] = {
    "no lifespan": [LookupError("only http")],
    "an error before the start": ["startup", LookupError()],
    "an unknown message": ["startup", {"type": "unheard"}],
}


@pytest.mark.parametrize("case", IGNORED)
async def test_an_application_without_a_lifespan_is_served_with_a_warning(case: str) -> None:
    async with open_server(lasting(*IGNORED[case]), lifespan=True) as server:
        assert (await server.ask(get())).startswith(b"HTTP/1.1 200 ")
        (record,) = server.log.take(30)
        assert "without Lifespan support" in record.getMessage()


FAILED = {"type": "lifespan.startup.failed", "message": "no database"}
STOP_FAILED = {"type": "lifespan.shutdown.failed", "message": "not flushed"}
ENDED: dict[str, tuple[list[Any], type[Exception], str]] = {
    "a start that failed": (["startup", FAILED], LifespanFailureError, "no database"),
    "a start that failed without a word": (
        ["startup", {"type": "lifespan.startup.failed"}],
        *(LifespanFailureError, "in startup"),
    ),
    "a shutdown that failed": (
        ["startup", STARTED, "shutdown", STOP_FAILED],
        *(LifespanFailureError, "not flushed"),
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
