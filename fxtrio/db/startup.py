"""A start that fails for the database is told in one line, and not as a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from starlette.types import Message, Send

from fxtrio.db.faults import DatabaseError


def telling_shortly(send: Send) -> Send:
    """Return ``send`` of a lifespan, through which such a failure goes with its message alone."""

    async def send_on(message: Message) -> None:
        if message["type"] == "lifespan.startup.failed":
            told = list(_leaves(sys.exc_info()[1]))  # Starlette sends while it handles it
            if told and all(isinstance(error, DatabaseError) for error in told):
                message = {**message, "message": "\n".join(map(str, told))}
        await send(message)

    return send_on


def _leaves(error: BaseException | None) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    elif error is not None:
        yield error
