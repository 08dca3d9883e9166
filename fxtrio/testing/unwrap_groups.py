"""What a test raises leaves the blocks of `fx.testing` as it is, and in no group."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

import trio

T = TypeVar("T")


@asynccontextmanager
async def ungrouped(block: AbstractAsyncContextManager[T]) -> AsyncIterator[T]:
    """Enter ``block``, which opens a nursery, and raise the body's own error outside of it.

    The block ends as if the body had returned. Cancellation passes through it.
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
    finally:
        if failure is not None:
            raise failure
