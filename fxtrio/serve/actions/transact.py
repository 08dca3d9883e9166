"""An action that is one transaction: retried until it commits, or attempts run out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.background import BackgroundTasks

from fxtrio.errors import Redirect
from fxtrio.isolation import Isolation
from fxtrio.serve.actions.result import Result
from fxtrio.serve.request.bodies.body import ActionRequest
from fxtrio.serve.request.response.response import ResponseDraft
from fxtrio.serve.request.response.unwrap import unwrap
from fxtrio.tasks.deferred_jobs import hold_jobs


async def transact(
    run: Callable[[], Awaitable[Any]],
    checked: Callable[[Any], Result],
    *,
    isolation: Isolation,
    request: ActionRequest,
    draft: ResponseDraft,
    background: BackgroundTasks,
) -> Result:
    """Return what an action came to, once its transaction is over.

    A redirect is a way to succeed; everything else that is raised undoes it. When others were
    in its way, it runs again: what it has promised, enqueued and put into the response is
    forgotten, and the body is as it came. Raises TransactionConflict.
    """
    # Heavy, and needless for an app without a database.
    from fxtrio.db import get_database
    from fxtrio.db.retrying import RETRIES

    promised, headers = len(background.tasks), list(draft.raw_headers)
    result: Result | None = None
    async for attempt in get_database().transaction(isolation=isolation, retry=RETRIES):
        if attempt.number:
            del background.tasks[promised:]
            draft.raw_headers[:] = headers
            request.rewind()
        in_vain = False
        with hold_jobs() as held:
            try:
                async with attempt:
                    result = checked(await _unredirected(run, draft))
                in_vain = not attempt.over
            finally:
                held.open = False
                if not in_vain:
                    held.release()
    assert result is not None
    return result


async def _unredirected(run: Callable[[], Awaitable[Any]], draft: ResponseDraft) -> Any:
    try:
        return await run()
    except Exception as error:  # application code
        value = unwrap(error, draft, "")  # others are unwrapped by the caller
        if not isinstance(value, Redirect):
            raise
        return value
