"""A start that fails for the database or for want of a package is told in one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from starlette.types import Message, Send

from fxtrio.db.errors import DatabaseError
from fxtrio.errors import ExtraMissing


def telling_shortly(send: Send) -> Send:
    """Return ``send`` of a lifespan, through which such a failure goes with its message alone."""

    async def send_on(message: Message) -> None:
        if message["type"] == "lifespan.startup.failed":
            # Starlette sends while it handles it.
            told = [_told(error) for error in _leaves(sys.exc_info()[1])]
            if told and all(isinstance(error, DatabaseError | ExtraMissing) for error in told):
                message = {**message, "message": "\n".join(map(str, told))}
        await send(message)

    return send_on


def _told(error: BaseException) -> BaseException:
    """Return what is behind the failure of a plugin, if that says it all."""
    return error.__cause__ if isinstance(error.__cause__, ExtraMissing) else error


def _leaves(error: BaseException | None) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    elif error is not None:
        yield error
