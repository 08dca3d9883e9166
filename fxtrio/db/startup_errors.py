"""Reports a startup failure of the database, or of a missing package, in one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from starlette.types import Message, Send

from fxtrio.db.errors import DatabaseError
from fxtrio.errors import ExtraMissing


def telling_shortly(send: Send) -> Send:
    """Return a lifespan's ``send`` that reduces such a failure to its message."""

    async def send_on(message: Message) -> None:
        if message["type"] == "lifespan.startup.failed":
            # Starlette sends while it handles it.
            causes = [_known_cause(error) for error in _leaves(sys.exc_info()[1])]
            if causes and all(isinstance(error, DatabaseError | ExtraMissing) for error in causes):
                message = {**message, "message": "\n".join(map(str, causes))}
        await send(message)

    return send_on


def _known_cause(error: BaseException) -> BaseException:
    """Return the cause of a plugin's failure, if that is sufficient."""
    return error.__cause__ if isinstance(error.__cause__, ExtraMissing) else error


def _leaves(error: BaseException | None) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    elif error is not None:
        yield error
