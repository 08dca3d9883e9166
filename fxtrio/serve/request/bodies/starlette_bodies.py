"""Parses the bodies of Starlette's own requests, in routes and middleware, off the event loop.

Starlette decodes JSON and form fields on the event loop: 1 MB of ``[],[],…`` blocks all
other requests for 130 ms, and so do its escapes. `install` replaces two of Starlette's names
for the whole process; both replacements behave as the originals.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Coroutine, Sequence
from typing import Any, TypeVar

import trio
from starlette import requests
from starlette.datastructures import FormData
from starlette.formparsers import FormParser
from starlette.requests import Request

from fxtrio.serve.request.bodies.json_body import parse_json
from fxtrio.serve.request.bodies.spool import LARGE, THREADS

T = TypeVar("T")

_threads = trio.CapacityLimiter(THREADS)


def install() -> None:
    """Replace Starlette's parsers, also for frameworks that build on it."""
    for place, name, ours in (
        (requests, "FormParser", ThreadedFormParser),
        (Request, "json", _json),
    ):
        getattr(place, name)  # an error here is a Starlette that has moved it
        setattr(place, name, ours)


class ThreadedFormParser(FormParser):
    """Parses urlencoded forms, large ones in a thread."""

    async def parse(self) -> FormData:
        """Return the fields. Raises what Starlette's parser does."""
        chunks = [chunk async for chunk in self.stream]
        self.stream = _again(chunks)
        if not _is_large(sum(map(len, chunks))):
            return await super().parse()
        return await trio.to_thread.run_sync(_completed, super().parse(), limiter=_threads)


async def _json(self: Request) -> Any:
    """Return the body's JSON. Raises BadJson (status 400), which is a JSONDecodeError, too."""
    if not hasattr(self, "_json"):
        body = await self.body()
        if not _is_large(len(body)):
            self._json = parse_json(body)
        else:
            self._json = await trio.to_thread.run_sync(parse_json, body, limiter=_threads)
    return self._json


def _is_large(size: int) -> bool:
    """Whether a body is for a thread; never where another event loop runs, as in others' tests."""
    return size > LARGE and trio.lowlevel.in_trio_run()


async def _again(chunks: Sequence[bytes]) -> AsyncGenerator[bytes, None]:
    for chunk in chunks:
        yield chunk


def _completed(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that never waits."""
    try:
        work.send(None)
    except StopIteration as done:
        value: T = done.value
        return value
    raise RuntimeError(f"{work} waits for something")
