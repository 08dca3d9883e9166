"""The loaders of a page and of its layouts, run at the same time.

The outcome of a loader is a value, never an exception that crosses a
nursery: data and status, a redirect, or a failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import trio
from starlette.requests import Request

from fxtrio.application_errors import application_error
from fxtrio.errors import Redirect, ResultInvalid
from fxtrio.serve.pages.functions.server_functions import LoaderCode
from fxtrio.serve.request.response.unwrap import StatusInvalid, unwrap
from fxtrio.serve.request.watchdog import DeadlinePassed, Watched
from fxtrio.spans import call_in_span
from fxtrio.status import as_status

Values = dict[str, dict[str, Any]]
"""Source of a page or layout to the value of its loader."""


class LoaderResultInvalid(ResultInvalid):
    """A loader returned neither a dict nor a tuple of a dict and a status."""

    remedy = "Return a dict, or a tuple of a dict and an HTTP status"


class Loaded(msgspec.Struct, frozen=True):
    """All loaders returned."""

    values: Values
    status: int
    """The page's own status; 200 when it sets none."""


class Failed(msgspec.Struct, frozen=True):
    """A loader failed, and the others were cancelled."""

    source: str
    error: BaseException
    values: Values
    """Values that were loaded before the failure."""


Outcome = Loaded | Redirect | Failed


async def load(
    loaders: Sequence[LoaderCode],
    request: Request,
    page: str,
    watched: Watched | None = None,
) -> Outcome:
    """Run ``loaders``; the status comes from the one whose source is ``page``.

    The first that fails or redirects cancels the others. The deadline of a single
    loader is left to ``watched``, where there is one: it costs less than a scope.
    """
    if not loaders:
        return Loaded({}, 200)
    if len(loaders) == 1:  # the ordinary page: no nursery, no task
        only = loaders[0]
        if watched is None:
            return _collect([(only.source, await _run(only, request))], page)
        before = watched.tighten(only)
        try:
            value = await call_in_span("loader", only.place, only.function, request)
        except BaseException as raised:
            return _ended_by(application_error(raised), only, request, page, watched, before)
        watched.relax(before)
        if type(value) is dict:  # as nearly all do
            return Loaded({only.source: value}, 200)
        return _collect([(only.source, _checked(only, value))], page)
    results: list[tuple[str, _Result]] = []

    async def run(loader: LoaderCode) -> None:
        result = await _run(loader, request)
        results.append((loader.source, result))
        if not isinstance(result, tuple):
            nursery.cancel_scope.cancel(f"{loader.place} ended the request")

    async with trio.open_nursery() as nursery:
        for loader in loaders:
            nursery.start_soon(run, loader, name=f"load.{loader.source}")
    return _collect(results, page)


def _ended_by(
    error: BaseException,
    loader: LoaderCode,
    request: Request,
    page: str,
    watched: Watched,
    deadline: float,
) -> Outcome:
    """Return the outcome of the only loader, which raised; see `_known`."""
    watched.relax(deadline)
    return _collect([(loader.source, _known(error, loader, request))], page)


_Result = tuple[dict[str, Any], int] | Redirect | BaseException


async def _run(loader: LoaderCode, request: Request) -> _Result:
    """Call one loader under its deadline; whatever it raises is returned."""
    with trio.CancelScope(deadline=trio.current_time() + loader.timeout):
        return await _call(loader, request)
    return DeadlinePassed(loader.place, loader.timeout)


async def _call(loader: LoaderCode, request: Request) -> _Result:
    """Call one loader; whatever it raises is returned."""
    try:
        value = await call_in_span("loader", loader.place, loader.function, request)
    except BaseException as raised:
        return _known(application_error(raised), loader, request)
    return _checked(loader, value)


def _known(error: BaseException, loader: LoaderCode, request: Request) -> _Result:
    """Return the outcome that an error means.

    A separate function, since a variable of a frame in the error's traceback would form a
    cycle with the error, and all loaded data would wait for the garbage collector.
    """
    known: _Result = unwrap(error, request.state.response, loader.place)
    return known


def _checked(loader: LoaderCode, value: Any) -> _Result:
    if isinstance(value, dict):
        return value, 200
    if isinstance(value, tuple) and len(value) == 2:
        data, status_value = value
        if isinstance(data, dict):
            status = as_status(status_value)
            return StatusInvalid(loader.place, status_value) if status is None else (data, status)
    if isinstance(value, Redirect):
        return value
    return LoaderResultInvalid(loader.place, value)


def _collect(results: Sequence[tuple[str, _Result]], page: str) -> Outcome:
    """Join the results; the first that ended the request decides."""
    values: Values = {}
    status = 200
    for source, result in results:
        if isinstance(result, tuple):
            values[source] = result[0]
            if source == page:
                status = result[1]
    for source, result in results:
        if isinstance(result, Redirect):
            return result
        if isinstance(result, BaseException):
            return Failed(source, result, values)
    return Loaded(values, status)
