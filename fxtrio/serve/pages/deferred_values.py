"""Values that loaders have deferred: `{"reviews": defer(find_reviews, id)}`.

They begin when all loaders have returned, in a nursery of the page: what ends the page cancels
them. `deferred_navigation` and `stream` send each when it has come (`deliver`); for a client that
cannot read a response in parts all are awaited first (`settle`).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Protocol

import attrs
import trio

from fxtrio.application_errors import application_error
from fxtrio.deferred import Deferred
from fxtrio.encode import encode_for_html
from fxtrio.errors import Redirect, ValueRefused
from fxtrio.serve.pages.error_response import log_failure, problem_of
from fxtrio.serve.pages.loaders import Failed, Loaded, Outcome, Values
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.pages.plan import ViewPlan
from fxtrio.serve.request.response.response import ResponseDraft
from fxtrio.serve.request.response.unwrap import unwrap
from fxtrio.serve.request.watchdog import DeadlinePassed

log = logging.getLogger("fx.serve")

_ENDS = (b",false]", b",true]")


class DeferredRedirect(ValueRefused):
    """A deferred function redirects, when the page is on its way."""

    def __init__(self, place: str, url: str) -> None:
        super().__init__(f"{place}: redirects to {url!r}. Let the loader redirect.")
        self.place = place


@attrs.frozen
class DeferredValue:
    """A value that a loader has deferred."""

    source: str
    """The file of the loader."""

    key: str
    call: Deferred[Any]

    @property
    def place(self) -> str:
        """Its name, for messages."""
        return f"{self.source}: defer({self.key!r})"

    def name(self, plan: ViewPlan) -> str:
        """Return its name in the payload of a view."""
        for index, layout in enumerate(plan.layouts):
            if layout.module.source == self.source:
                return f"{index}:{self.key}"
        return f"page:{self.key}"


class SendValue(Protocol):
    """Sends what has come: a value, or an error with the keys of `PageError`, as JSON."""

    async def __call__(self, value: DeferredValue, data: bytes, *, failed: bool) -> None:
        """Send it."""
        ...


def deferred_in(values: Values) -> tuple[DeferredValue, ...]:
    """Return the deferred values, in order. Called for every page."""
    for data in values.values():
        if Deferred in map(type, data.values()):  # a loop of Python would cost twice as much
            break
    else:
        return ()
    return tuple(
        DeferredValue(source, key, value)
        for source, data in values.items()
        for key, value in data.items()
        if type(value) is Deferred
    )


def names_of(deferred: Sequence[DeferredValue], plan: ViewPlan) -> tuple[str, ...]:
    """Return the names of those that a view has."""
    sources = {code.module.source for code in plan.chain}
    return tuple(value.name(plan) for value in deferred if value.source in sources)


def without_deferred(values: Values) -> Values:
    """Return the values without those that are deferred."""
    return {
        source: {key: value for key, value in data.items() if type(value) is not Deferred}
        for source, data in values.items()
    }


async def settle(page: PageEvent, loaded: Loaded) -> Outcome:
    """Await all of them, and return what was loaded with their results.

    The first that fails cancels the others; it is as if the loader had failed.
    """
    results: dict[tuple[str, str], Any] = {}
    failures: list[tuple[DeferredValue, _Raised]] = []

    async def run(value: DeferredValue) -> None:
        result = await _run(page, value)
        if isinstance(result, _Raised):
            failures.append((value, result))
            nursery.cancel_scope.cancel(f"{value.place} failed")
        else:
            results[value.source, value.key] = result

    async with trio.open_nursery() as nursery:
        for value in deferred_in(loaded.values):
            nursery.start_soon(run, value, name=value.place)
    values = {
        source: {key: results.get((source, key), value) for key, value in data.items()}
        for source, data in loaded.values.items()
    }
    if failures:
        value, raised = failures[0]
        log.info("%s ends the page", value.place)
        return Failed(value.source, raised.error, values)
    return Loaded(values, loaded.status)


async def deliver(page: PageEvent, deferred: Sequence[DeferredValue], send: SendValue) -> None:
    """Run all of them, and send each when it has come; one that fails cancels no other."""

    async def run(value: DeferredValue) -> None:
        result = await _run(page, value)
        if not isinstance(result, _Raised):
            try:
                data = encode_for_html(result, value.place)
            except ValueRefused as error:
                result = _Raised(error)
        if isinstance(result, _Raised):
            await send(value, _failure(page, value, result.error), failed=True)
        else:
            await send(value, data, failed=False)

    async with trio.open_nursery() as nursery:
        for value in deferred:
            nursery.start_soon(run, value, name=value.place)


@attrs.frozen
class _Raised:
    error: BaseException


async def _run(page: PageEvent, value: DeferredValue) -> Any:
    """Return the result of one, or what it has raised."""
    limit = page.site.config.timeouts.loader
    with trio.CancelScope(deadline=trio.current_time() + limit):
        try:
            return await value.call.call()
        except BaseException as raised:  # application code
            return _known(application_error(raised), value)
    return _Raised(DeadlinePassed(value.place, limit))


def _known(error: BaseException, value: DeferredValue) -> _Raised:
    """Return the error as the client sees it; a function of its own as that of `loaders`."""
    known = unwrap(error, ResponseDraft(), value.place)
    if isinstance(known, Redirect):
        return _Raised(DeferredRedirect(value.place, known.url))
    return _Raised(known)


def _failure(page: PageEvent, value: DeferredValue, error: BaseException) -> bytes:
    """Log an error, and return what the page's error boundary gets."""
    problem = problem_of(error, development=page.site.development)
    log_failure(error, value.place)
    request_id = page.event.request_id if problem.status >= 500 else None
    fields = {
        "message": problem.message,
        "statusCode": problem.status,
        "type": problem.type,
        "data": problem.data,
        "requestId": request_id.decode() if request_id else "",
    }
    return encode_for_html(fields, value.place)


def entry_of(name: str, data: bytes, *, failed: bool) -> bytes:
    """Return the JSON list by which the browser gets a value: name, value, whether it failed.

    ``data`` is safe inside HTML, and so is the list.
    """
    return b"".join((b"[", encode_for_html(name, name), b",", data, _ENDS[failed]))
