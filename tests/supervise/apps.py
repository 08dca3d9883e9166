"""Applications that the tests of processes serve."""

from __future__ import annotations

import gc
import os
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def pid(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(os.getpid()))


async def thresholds(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"{gc.get_threshold()}")


async def slow(request: Request) -> PlainTextResponse:
    say("slow request")
    await trio.sleep(float(request.query_params["seconds"]))
    return PlainTextResponse("done")


async def body(request: Request) -> PlainTextResponse:
    say("request with a body")
    return PlainTextResponse(str(len(await request.body())))


async def big(request: Request) -> PlainTextResponse:
    return PlainTextResponse("x" * 30_000_000)


async def talk(websocket: WebSocket) -> None:
    await websocket.accept()
    async for text in websocket.iter_text():
        await websocket.send_text(text)


@asynccontextmanager
async def lifespan(app: Any):
    say("lifespan began")
    yield
    say("lifespan ended")


app = Starlette(
    routes=[
        Route("/", pid),
        Route("/thresholds", thresholds),
        Route("/slow", slow),
        Route("/body", body, methods=["POST"]),
        Route("/big", big),
        WebSocketRoute("/talk", talk),
    ],
    lifespan=lifespan,
)
app.state.begin_shutdown = lambda: say("begin_shutdown")


@asynccontextmanager
async def failing(app: Any):
    raise LookupError("no database")
    yield


fails_to_start = Starlette(lifespan=failing)


@asynccontextmanager
async def depending(app: Any):
    """Start unless the file exists that stands for an outage."""
    if await trio.Path(os.environ["OUTAGE"]).exists():
        raise LookupError("no database")
    yield


starts_without_outage = Starlette(routes=[Route("/", pid)], lifespan=depending)


@asynccontextmanager
async def stubborn(app: Any):
    yield
    with trio.CancelScope(shield=True):
        await trio.to_thread.run_sync(time.sleep, 60)


never_ends = Starlette(routes=[Route("/", pid)], lifespan=stubborn)


@asynccontextmanager
async def endless(app: Any):
    await trio.sleep_forever()
    yield


never_starts = Starlette(lifespan=endless)


async def breaks_off(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await trio.sleep(0.3)
        raise LookupError("the background work failed")


@asynccontextmanager
async def blocking(app: Any):
    yield
    time.sleep(60)  # noqa: ASYNC251  # what it must not do


blocks_at_the_end = Starlette(lifespan=blocking)


async def waits_for_somebody(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await receive()
        why = "migrations: 0001_notes.sql has not been run.\nRun 'fx db up'."
        outcome = {"type": "lifespan.startup.failed", "message": why, "fx.start-refused": True}
        after = os.environ.get("REFUSED_AFTER")
        if after and not await trio.Path(after).exists():
            outcome = {"type": "lifespan.startup.complete"}
        await send(outcome)
        await receive()
        await send({"type": "lifespan.shutdown.complete"})


async def waits_for_another(scope: Any, receive: Any, send: Any) -> None:
    """Fail in the first process once a second one starts, which never gets further."""
    assert scope["type"] == "lifespan"
    await receive()
    pipe = Path(os.environ["PIPE"])
    try:
        os.mkfifo(pipe)
    except FileExistsError:
        await trio.to_thread.run_sync(pipe.write_text, "starts")
        await trio.sleep_forever()
    await trio.to_thread.run_sync(pipe.read_text)
    why = "migrations: 0001_notes.sql has not been run."
    await send({"type": "lifespan.startup.failed", "message": why, "fx.start-refused": True})


async def without_lifespan(scope: Any, receive: Any, send: Any) -> None:
    assert scope["type"] == "http"
    await PlainTextResponse("plain")(scope, receive, send)


def make() -> Any:
    return app


not_an_app = 3
