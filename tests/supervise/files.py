"""An application that has files open, and opens more for every request."""

from __future__ import annotations

import os
from contextlib import ExitStack, asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

HELD = 20


@asynccontextmanager
async def lifespan(app: Any):
    with ExitStack() as stack:
        for _ in range(HELD):
            stack.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        yield


async def read(request: Request) -> PlainTextResponse:
    with ExitStack() as stack:
        for _ in range(4):
            stack.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        return PlainTextResponse("read")


app = Starlette(routes=[Route("/", read)], lifespan=lifespan)
