"""Errors leave the blocks of `fx.testing` in no group, and without frames of the framework.

What a test raises stays as it is. What a block itself fails with, such as a plugin that cannot
start, is the error alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

import trio

from fxtrio.errors import FxtrioError
from fxtrio.tracebacks import drop_tracebacks, line_in_application, trimmed

T = TypeVar("T")


@asynccontextmanager
async def ungrouped(block: AbstractAsyncContextManager[T]) -> AsyncIterator[T]:
    """Enter ``block``, which opens a nursery, and raise the body's own error outside of it.

    The block ends as if the body had returned. Cancellation passes through it. Of errors of the
    block itself that are several the group stays.
    """
    failure: BaseException | None = None
    try:
        async with block as value:
            try:
                yield value
            except (trio.Cancelled, GeneratorExit, KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # also those of `pytest.fail` and `pytest.skip`
                failure = error
    except Exception as error:  # of the block
        failure = failure or _alone(error)
    finally:
        if failure is not None:
            raise failure


def _alone(error: Exception) -> Exception:
    """Return the only error of a group, with the frames that say something about it."""
    error = _only(error)
    trimmed(error)
    if isinstance(error, FxtrioError) and not line_in_application(error):  # its message says all
        error.__traceback__ = None
        if isinstance(error.__cause__, Exception):
            error.__cause__ = _only(error.__cause__)
            if not line_in_application(error.__cause__):
                drop_tracebacks(error.__cause__)
    return error


def _only(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
