"""Running an action: its arguments, its function, its transaction, and what it came to."""

from __future__ import annotations

import logging
from typing import Any

from starlette.background import BackgroundTasks
from starlette.responses import Response

from fxtrio.application_errors import application_error
from fxtrio.errors import ActionError, BadBody, Busy, LoaderError, Redirect
from fxtrio.runtime import take_invalidated
from fxtrio.serve.actions.lookup import ActionResultInvalid
from fxtrio.serve.actions.representations import Target
from fxtrio.serve.actions.result import Result, Succeeded
from fxtrio.serve.actions.transact import transact
from fxtrio.serve.pages.error_response import log_failure
from fxtrio.serve.pages.functions.server_functions import ActionCode
from fxtrio.serve.request.bodies.body import ActionRequest
from fxtrio.serve.request.response.background import background_task, require_runnable
from fxtrio.serve.request.response.error_response import (
    UNEXPECTED,
    ErrorResponse,
    busy,
    to_error_response,
)
from fxtrio.serve.request.response.unwrap import require_status, unwrap
from fxtrio.serve.request.watchdog import DeadlinePassed
from fxtrio.spans import span

log = logging.getLogger("fx.serve")


async def execute(target: Target, request: ActionRequest, background: BackgroundTasks) -> Result:
    """Run the action of ``target`` and return what it came to; it raises no application's error."""
    action, development = target.found.action, target.site.development
    try:
        arguments = () if action.body is None else await arguments_of(action, request)
        with span("action", action.place):
            if action.transaction:
                return await _transact(target, request, arguments, background)
            value = await action.function(request, *arguments)
        return _checked(action, value, background, development=development)
    except BaseException as raised:
        # No local variable holds the error: this frame is in its traceback.
        return failure(
            unwrap(application_error(raised), target.event.draft, action.place),
            action.place,
            development=development,
        )


async def _transact(
    target: Target,
    request: ActionRequest,
    arguments: tuple[Any, ...],
    background: BackgroundTasks,
) -> Result:
    """Run the action as one transaction; see `transact`."""
    action, development = target.found.action, target.site.development
    unused: list[tuple[Any, ...]] = [arguments]

    async def run() -> Any:
        # A second attempt gets arguments that the first cannot have changed.
        own = unused.pop() if unused else await arguments_of(action, request)
        return await action.function(request, *own)

    return await transact(
        run,
        lambda value: _checked(action, value, background, development=development),
        isolation=action.isolation,
        request=request,
        draft=target.event.draft,
        background=background,
    )


async def arguments_of(action: ActionCode, request: ActionRequest) -> tuple[Any, ...]:
    """Return the typed body, if the action takes one. Raises ValidationActionError."""
    model = action.body
    if model is None:
        return ()
    # Heavy, and loaded by now, since there is a model.
    from fxtrio.serve.request.model.validate import ROOT, invalid

    if not request.has_body:
        if model.optional:
            return (None,)
        raise invalid({ROOT: ["The body is empty"]})
    if not request.is_readable:
        raise ActionError(
            f"The body is {request.media_type!r}. Send application/json, "
            "application/x-www-form-urlencoded or multipart/form-data.",
            415,
        )
    try:
        value = await request.json()
    except BadBody as error:
        raise invalid({ROOT: [error.message]}) from error
    if value is None and model.optional:
        return (None,)
    return (await request.work(model.build, value, request.is_form),)


def failure(error: BaseException, place: str, *, development: bool) -> ErrorResponse | Redirect:
    """Return what the client learns of an error of the application; log what is a defect."""
    if isinstance(error, (ActionError, LoaderError)):
        return to_error_response(error)
    if isinstance(error, Redirect):
        return error
    log_failure(error, place)
    if isinstance(error, Busy):
        return busy(error)
    message = f"{type(error).__name__}: {error}" if development else UNEXPECTED
    return ErrorResponse(message, 500)


def timed_out(action: ActionCode) -> ErrorResponse:
    """Return what the client learns of an action that took too long; it is logged."""
    log.error("%s", DeadlinePassed(action.place, action.timeout))
    return ErrorResponse("The action took too long.", 504)


def _checked(
    action: ActionCode, value: Any, background: BackgroundTasks, *, development: bool
) -> Result:
    """Return what an action returned, apart from what only the runtime reads."""
    if not isinstance(value, dict):
        if isinstance(value, Response):
            require_status(value.status_code, action.place)
        if isinstance(value, (Response, Redirect)):
            require_runnable(background.tasks, action.place)
            return value
        raise ActionResultInvalid(action.place, value)
    result, invalidated = take_invalidated(value)
    if development and result.get("ok", True) is not True:
        log.warning(
            "%s: returned 'ok': %r, which is sent as true: 'ok' is reserved. "
            "Raise ActionError for a failure, or choose another key.",
            action.place,
            result["ok"],
        )
    if "background" in result:
        background.tasks.append(background_task(result.pop("background"), action.place))
    require_runnable(background.tasks, action.place)
    return Succeeded(result, invalidated)
