"""Reports a startup failure whose message says all in that message, without a traceback."""

from __future__ import annotations

import sys

from starlette.types import Message, Send

from fxtrio.asgi_extensions import START_REJECTED
from fxtrio.db.errors import DatabaseError
from fxtrio.errors import Busy, ExtraMissing, FxtrioError, leaves


def telling_shortly(send: Send) -> Send:
    """Return a lifespan's ``send`` that reduces such a failure to its message.

    Unless a server that is away causes it, nothing but a change by somebody ends it, which
    the message says as well.
    """

    async def send_on(message: Message) -> None:
        if message["type"] == "lifespan.startup.failed":
            error = sys.exc_info()[1]  # Starlette sends while it handles it
            errors = leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
            causes = [_known_cause(one) for one in errors if one is not None]
            if causes and all(map(_says_all, causes)):
                message = {**message, "message": "\n".join(map(str, causes))}
                if not any(isinstance(one, Busy) for one in causes):
                    message[START_REJECTED] = True
        await send(message)

    return send_on


def _known_cause(error: BaseException) -> BaseException:
    """Return the cause of a plugin's failure, if that is sufficient."""
    cause = error.__cause__
    return cause if isinstance(cause, ExtraMissing | DatabaseError) else error


def _says_all(error: BaseException) -> bool:
    """Tell whether a traceback would add nothing to an error: none of an application's code."""
    if isinstance(error, DatabaseError | ExtraMissing):
        return True
    if not isinstance(error, FxtrioError):
        return False
    return error.__cause__ is None or _says_all(error.__cause__)
