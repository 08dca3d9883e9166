"""Running an action that is an async generator: each value is sent as soon as it is yielded.

The first value settles the status. What the action raises before it is answered as if the
action had returned; what it raises later is in the last event, ``event: end``.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Iterable
from math import inf
from typing import Any

import msgspec
from starlette.background import BackgroundTasks

from fxtrio.asgi_extensions import WholeResponse
from fxtrio.encode import encode
from fxtrio.errors import Redirect
from fxtrio.runtime import INVALIDATE_KEY, merge_urls, take_invalidated
from fxtrio.serve.actions.execution import arguments_of, failure, timed_out
from fxtrio.serve.actions.no_js_forms import asks_for_page
from fxtrio.serve.actions.representations import Target
from fxtrio.serve.actions.result import DISCONNECTED, SENT, Outcome, Succeeded
from fxtrio.serve.event_streams.forward import Writer, forward
from fxtrio.serve.event_streams.generated import Generated
from fxtrio.serve.event_streams.open_streams import OpenStream, StreamsFull
from fxtrio.serve.event_streams.writer import EventWriter, end_of, event_of
from fxtrio.serve.request.bodies.body import ActionRequest
from fxtrio.serve.request.response.background import (
    BackgroundInvalid,
    background_task,
    require_runnable,
)
from fxtrio.serve.request.response.error_response import ErrorResponse, busy, error_body
from fxtrio.serve.request.response.unwrap import unwrap
from fxtrio.spans import span

log = logging.getLogger("fx.serve")


async def stream_action(
    target: Target, request: ActionRequest, background: BackgroundTasks
) -> Outcome:
    """Run the action of ``target``, and send its values.

    Returns `SENT` when the response is complete, and otherwise what the action came to before
    its first value.
    """
    try:
        with target.running.streams.admit() as open_stream:
            return await _while_read(_ActionStream(target, request, background, open_stream))
    except StreamsFull as error:
        log.error("%s", error)
        return busy(error)


async def _while_read(stream: _ActionStream) -> Outcome:
    """Run a stream for as long as its client is there, unless it is to outlive it."""
    target = stream.target
    if not target.found.action.cancel_on_disconnect:
        return await stream.run()
    with target.running.watchdog.watch(target.event.receive, limit=inf):
        return await stream.run()
    stream.log_error()
    return DISCONNECTED


class _Discarded:
    """For a form without JavaScript, which gets a page afterwards: values are discarded."""

    begun = False
    direct: WholeResponse | None = None

    async def write(self, data: bytes) -> None:
        """Discard events."""


class _ActionStream:
    """One call. Its generator is a task of the nursery in `run`, and ends with it."""

    def __init__(
        self,
        target: Target,
        request: ActionRequest,
        background: BackgroundTasks,
        open_stream: OpenStream,
    ) -> None:
        self.target = target
        self._open_stream = open_stream
        self._request = request
        self._background = background
        self._runnable = 0
        """How many of the background tasks have been checked (count)."""
        self._invalidated: list[str] = []
        self._place = target.found.action.place
        self._values = Generated(self._open, self._encoded, self._place)

    async def run(self) -> Outcome:
        event = self.target.event
        if asks_for_page(event):
            return await self._generate(_Discarded())
        writer = EventWriter(event, self._place)
        outcome = await self._generate(writer)
        if not writer.begun and not isinstance(outcome, Succeeded):
            return outcome
        await writer.end(end_of(self._end_of(outcome)))
        return SENT

    async def _generate(self, writer: Writer) -> Succeeded | ErrorResponse | Redirect:
        """Run the generator and forward its values; return what it came to."""
        action, values = self.target.found.action, self._values
        with span("action", self._place):
            is_complete = await forward(
                values, writer, self._open_stream, place=self._place, timeout=action.timeout
            )
        self._note_invalidated(self.target.event.draft.take_revalidated())
        if (error := values.take_error()) is not None:
            return self._failed(error)
        if is_complete:
            return self._complete()
        if self._open_stream.is_closing:
            return ErrorResponse(
                "The server is restarting. Try again in a moment.", 503, retry_after=1
            )
        return timed_out(action)

    def _complete(self) -> Succeeded | ErrorResponse | Redirect:
        try:
            require_runnable(self._background.tasks[self._runnable :], self._place)
        except BackgroundInvalid as error:  # added behind the last yield
            return self._failed(error)
        return Succeeded({}, self._invalidated)

    def log_error(self) -> None:
        """Log what the action raised when its client had disconnected."""
        if (error := self._values.take_error()) is not None:
            self._failed(error)

    async def _open(self) -> AsyncGenerator[Any, None]:
        action = self.target.found.action
        arguments = await arguments_of(action, self._request)
        generator: AsyncGenerator[Any, None] = action.function(self._request, *arguments)
        return generator

    def _note_invalidated(self, urls: Iterable[str]) -> None:
        self.target.evict(urls)
        self._invalidated = merge_urls(self._invalidated, urls)

    def _encoded(self, value: Any) -> bytes:
        """Return the event of a value, without what only the runtime reads of it."""
        if isinstance(value, dict):
            if INVALIDATE_KEY in value:
                value, urls = take_invalidated(value)
                self._note_invalidated(urls)
            if "background" in value:
                value = dict(value)
                shorthand = value.pop("background")
                self._background.tasks.append(background_task(shorthand, self._place))
        require_runnable(self._background.tasks[self._runnable :], self._place)
        self._runnable = len(self._background.tasks)
        return event_of(encode(value, place=self._place))

    def _failed(self, error: BaseException) -> ErrorResponse | Redirect:
        target = self.target
        known = unwrap(error, target.event.draft, self._place)
        failed = failure(known, self._place, development=target.site.development)
        if isinstance(failed, Redirect):
            target.evict(failed.invalidated)
            failed.invalidated = tuple(merge_urls(self._invalidated, failed.invalidated))
        return failed

    def _end_of(self, outcome: Succeeded | ErrorResponse | Redirect) -> bytes:
        """Return the data of the last event."""
        if isinstance(outcome, ErrorResponse):
            return error_body(self.target.with_login(outcome))
        end: dict[str, Any] = {"ok": True}
        if isinstance(outcome, Redirect):
            end["redirect"] = outcome.url
        if outcome.invalidated:
            end["invalidate"] = list(outcome.invalidated)
        return msgspec.json.encode(end)
