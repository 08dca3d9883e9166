"""Messages of the framework in the language of a visitor.

The function of the app does it that `translate` of the settings names.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse

from fxtrio.application_errors import application_error
from fxtrio.context import current
from fxtrio.errors import FunctionInvalid, named_function
from fxtrio.serve.request.audience import AUDIENCE, Audience
from fxtrio.tracebacks import trimmed

log = logging.getLogger("fx.serve")

Translate = Callable[[HTTPConnection, str], object]
"""Returns a message in the language of a request; the message itself where it has no other."""


class TranslateInvalid(FunctionInvalid):
    """`translate` names nothing that can translate. Raised when the app starts."""

    remedy = "Name a function that takes a request and a message, and returns a message"


def translate_of(name: str, resolve: Callable[[str], object]) -> Translate | None:
    """Return the function that a setting names, None for "". Raises TranslateInvalid."""
    if not name:
        return None
    found = named_function("translate", name, resolve, TranslateInvalid)
    if inspect.iscoroutinefunction(found):
        raise TranslateInvalid("translate", name, "which is not a function without async")
    return found


def translated(message: str) -> str:
    """Return a message as the visitor reads it whose request is worked for.

    Where the function of the app fails, that is logged, and the message stays as it is.
    """
    context = current.get()
    translate: Translate | None = None if context is None else context.app.translate
    if context is None or translate is None or context.scope is None:
        return message
    audience: Audience | None = context.scope.get(AUDIENCE)
    if audience is not None:
        audience.translate()
    try:
        found = translate(HTTPConnection(context.scope), message)
    except BaseException as raised:
        error = trimmed(application_error(raised))
        log.error("'translate' failed for %r", message, exc_info=error)
        return message
    if isinstance(found, str):
        return found
    log.error("'translate' returned %r for %r. Return a str.", found, message)
    return message


def failure_response(
    message: str, status: int, headers: Mapping[str, str] | None = None, **more: object
) -> JSONResponse:
    """Return ``{ok: false, error}`` as a response of Starlette, as the visitor reads it."""
    return JSONResponse({"ok": False, "error": translated(message), **more}, status, headers)


def translated_fields(fields: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return the messages of fields as the visitor reads them."""
    return {path: [translated(message) for message in listed] for path, listed in fields.items()}
