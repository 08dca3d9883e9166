"""Values that loaders have deferred: `{"reviews": defer(find_reviews, id)}`.

They begin when all loaders have returned, in a nursery of the page: what ends the page cancels
them. `deferred_navigation` and `stream` send each when it has come (`deliver`); for a client that
cannot read a response in parts all are awaited first (`settle`).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
import trio

from fxtrio.application_errors import application_error
from fxtrio.deferred import Deferred
from fxtrio.encode import encode_for_html
from fxtrio.errors import Redirect, ValueInvalid
from fxtrio.serve.pages.error_response import log_failure, problem_of
from fxtrio.serve.pages.loaders import Failed, Loaded, Values
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.pages.payload import PageProblem
from fxtrio.serve.pages.plan import ViewPlan
from fxtrio.serve.request.response.response import ResponseDraft
from fxtrio.serve.request.response.translated import translated
from fxtrio.serve.request.response.unwrap import unwrap
from fxtrio.serve.request.watchdog import DeadlinePassed
from fxtrio.spans import span

log = logging.getLogger("fx.serve")

_ENDS = (b",false]", b",true]")


class DeferredRedirect(ValueInvalid):
    """A deferred function redirects, when the page is on its way."""

    remedy = "Let the loader redirect"

    def __init__(self, place: str, url: str) -> None:
        super().__init__(place, f"redirects to {url!r}")


class DeferredValue(msgspec.Struct, frozen=True):
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
        return plan.name_of(self.source, self.key)


class Came(msgspec.Struct, frozen=True):
    """The result of a deferred function."""

    value: Any


class Raised(msgspec.Struct, frozen=True):
    """The error of a deferred function."""

    error: BaseException


class Settled(msgspec.Struct, frozen=True):
    """A deferred value whose function has ended."""

    value: DeferredValue
    result: Came | Raised
    data: bytes
    """The value, or the error with the keys of `PageError`, as JSON that is safe inside HTML."""

    problem: PageProblem | None = None
    """What the client learns of the error; None for a value."""

    def entry(self, plan: ViewPlan) -> bytes:
        """Return the JSON list by which the browser gets it: name, value, whether it failed."""
        name = self.value.name(plan)
        end = _ENDS[self.problem is not None]
        return b"".join((b"[", encode_for_html(name, name), b",", self.data, end))


def deferred_in(values: Values) -> tuple[DeferredValue, ...]:
    """Return the deferred values, in order. Called for every page."""
    for data in values.values():
        for value in data.values():
            if type(value) is Deferred:
                return _all_deferred_in(values)
    return ()


def _all_deferred_in(values: Values) -> tuple[DeferredValue, ...]:
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


def names_in(values: Values, plan: ViewPlan) -> tuple[str, ...]:
    """Return the names of all that were deferred, also when their functions have ended."""
    return tuple(
        plan.name_of(source, key)
        for source, data in values.items()
        for key, value in data.items()
        if isinstance(value, Deferred | Came | Raised)
    )


def without_deferred(values: Values) -> Values:
    """Return the values without those that are deferred."""
    return {
        source: {key: value for key, value in data.items() if type(value) is not Deferred}
        for source, data in values.items()
    }


async def settle(page: PageEvent, loaded: Loaded) -> Loaded | Failed:
    """Await all of them, and return what was loaded with their results.

    The first that fails cancels those of the page itself; it is as if the loader had failed.
    Those of layouts run on, since an error boundary shows them: the values of the `Failed` are
    then `Came` and `Raised`, and a second call takes them as they are. No function runs twice.
    """
    ended: dict[tuple[str, str], Came | Raised] = {}
    failures: list[tuple[str, Raised]] = [
        (source, value)
        for source, data in loaded.values.items()
        for value in data.values()
        if type(value) is Raised
    ]
    inner = page.target.plan.inner.module.source

    async def run(value: DeferredValue) -> None:
        result = ended[value.source, value.key] = await _run(page, value)
        if isinstance(result, Raised):
            log.info("%s ends the page", value.place)
            failures.append((value.source, result))
            own.cancel_scope.cancel(f"{value.place} failed")

    async with trio.open_nursery() as layouts, trio.open_nursery() as own:
        for value in deferred_in(loaded.values):
            nursery = own if value.source == inner else layouts
            nursery.start_soon(run, value, name=value.place)
    values = {
        source: {key: ended.get((source, key), value) for key, value in data.items()}
        for source, data in loaded.values.items()
    }
    if failures:
        source, raised = failures[0]
        return Failed(source, raised.error, values)
    plain = {
        source: {key: _plain(value) for key, value in data.items()}
        for source, data in values.items()
    }
    return Loaded(plain, loaded.status)


def _plain(value: Any) -> Any:
    return value.value if type(value) is Came else value


async def deliver(
    page: PageEvent,
    deferred: Sequence[DeferredValue],
    send: Callable[[Settled], Awaitable[None]],
) -> None:
    """Run all of them, and send each when it has come; one that fails cancels no other."""

    async def run(value: DeferredValue) -> None:
        await send(_settled(page, value, await _run(page, value)))

    draft = page.event.draft
    sent = len(draft.raw_headers)
    async with trio.open_nursery() as nursery:
        for value in deferred:
            nursery.start_soon(run, value, name=value.place)
    lost = [name.decode("latin-1") for name, _ in draft.raw_headers[sent:]]
    if lost:
        log.warning(
            "%s: its deferred values set %s after the headers were sent. Set it in the loader.",
            page.place,
            ", ".join(lost),
        )


async def _run(page: PageEvent, value: DeferredValue) -> Came | Raised:
    """Call the function of one."""
    limit = page.site.config.timeouts.loader
    with trio.CancelScope(deadline=trio.current_time() + limit):
        try:
            with span("deferred", value.place):
                result = await value.call.call()
            if isinstance(result, Redirect):
                raise result
            return Came(result)
        except BaseException as raised:  # application code
            return _known(application_error(raised), value)
    return Raised(DeadlinePassed(value.place, limit))


def _known(error: BaseException, value: DeferredValue) -> Raised:
    """Return the error as the client sees it; a function of its own as that of `loaders`."""
    known = unwrap(error, ResponseDraft(), value.place)
    if isinstance(known, Redirect):
        return Raised(DeferredRedirect(value.place, known.url))
    return Raised(known)


def _settled(page: PageEvent, value: DeferredValue, result: Came | Raised) -> Settled:
    """Encode a result; log an error."""
    if isinstance(result, Came):
        try:
            return Settled(value, result, encode_for_html(result.value, value.place))
        except ValueInvalid as error:
            result = Raised(error)
    problem = problem_of(result.error, development=page.site.development)
    log_failure(result.error, value.place)
    request_id = page.event.request_id if problem.status >= 500 else None
    fields = {
        "message": translated(problem.message),
        "statusCode": problem.status,
        "type": problem.type,
        "data": problem.data,
        "requestId": request_id.decode() if request_id else "",
    }
    return Settled(value, result, encode_for_html(fields, value.place), problem)
