"""asyncio for apps on trio: one event loop in one thread, owned by the app's lifespan.

`portal` runs a coroutine function of a library that knows asyncio alone. The thread
starts at the first call and has ended when the lifespan has. anyio's blocking portal
does the work; added here: calls are bounded, that a call which was cancelled
has ended before its caller goes on, and that no call can take the loop down.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import outcome
import trio

from fxtrio.context import current_app, why_no_app
from fxtrio.errors import PlacedError
from fxtrio.limiters import limiter_of
from fxtrio.tasks.calls import name_of

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

P = ParamSpec("P")
T = TypeVar("T")

CAPACITY = 100
"""Calls that run at a time; others wait for their turn (count)."""

STOP_TIMEOUT = 5.0
"""How long a cancelled call may take to end, and the loop at shutdown (seconds)."""

log = logging.getLogger("fx.asyncio")


class PortalNotRunning(PlacedError):
    """`portal` was called where no app runs, or after its end."""

    def __init__(self, cause: str = "the app has ended, or is about to") -> None:
        super().__init__("portal()", cause)


class PortalCallCancelled(PlacedError):
    """A call on the asyncio loop was cancelled there, and not by whoever waits for it."""

    def __init__(self, call: str) -> None:
        super().__init__(
            f"portal({call})",
            "the call was cancelled on the asyncio loop: by itself, by a library, or because the "
            "app ends",
        )


async def portal(func: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Await ``func(*args, **kwargs)`` on the app's asyncio loop and return its result.

    Raises whatever the function raises. The call has the context variables of the caller. If
    the caller is cancelled, so is the call, and the caller waits until the call has ended. At
    most 100 calls run at a time; others wait.

    Raises PortalNotRunning outside a running app, PortalCallCancelled if something other than
    the caller cancelled the call, and TypeError for anything that cannot be called.
    """
    if not callable(func):
        raise TypeError(_not_callable(func))
    app = current_app()
    running: AsyncioPortal | None = None if app is None else app.portal
    if running is None:
        raise PortalNotRunning(why_no_app())
    return await running.call(partial(func, *args, **kwargs))


def _not_callable(value: object) -> str:
    """Say what to hand over instead, and close a coroutine that nobody will await."""
    if inspect.iscoroutine(value):
        value.close()
        return (
            f"portal() takes a function, not the coroutine it returned: write "
            f"portal({value.__name__}, …) instead of portal({value.__name__}(…))."
        )
    return f"portal() takes a coroutine function, not {value!r:.80}."


@asynccontextmanager
async def open_portal() -> AsyncIterator[AsyncioPortal]:
    """Offer an asyncio loop for as long as the block lasts. It starts when it is needed.

    Calls that run when the block ends are cancelled.
    """
    opened = AsyncioPortal()
    try:
        yield opened
    finally:
        await opened.close()


class AsyncioPortal:
    """Calls into an asyncio loop. Created by `open_portal`; valid until its block ends."""

    def __init__(self) -> None:
        self._slots = trio.CapacityLimiter(CAPACITY)
        self._starting = trio.Lock()
        self._thread: AbstractContextManager[BlockingPortal] | None = None
        self._running: BlockingPortal | None = None
        self._closed = False

    @property
    def calls(self) -> int:
        """How many calls run."""
        return self._slots.borrowed_tokens

    async def call(self, func: Callable[[], Awaitable[T]]) -> T:
        """Await ``func()`` on the loop; see `portal`."""
        call = _Call(func)
        async with self._slots:
            running = self._running or await self._start()
            try:
                await running.call_async(call.run, abandon_on_cancel=True)
            except trio.Cancelled:
                await call.settle()
                raise
            except RuntimeError:  # the loop has ended, and the call never began
                raise PortalNotRunning from None
            result: T = call.unwrap()
            return result

    async def close(self) -> None:
        """Cancel what runs, and end the thread."""
        self._closed = True
        if self._thread is None or self._running is None:
            return
        with trio.CancelScope(shield=True), trio.move_on_after(STOP_TIMEOUT) as limit:
            # Abandoned where a call ignores its cancellation: the thread is a daemon.
            await trio.to_thread.run_sync(
                _end,
                self._thread,
                self._running,
                abandon_on_cancel=True,
                limiter=limiter_of("processes"),
            )
        if limit.cancelled_caught:
            log.error(
                "The asyncio loop did not stop in %g s: a call ignores its cancellation",
                STOP_TIMEOUT,
            )

    async def _start(self) -> BlockingPortal:
        """Start the thread, once."""
        from anyio.from_thread import start_blocking_portal

        async with self._starting:
            if self._closed:
                raise PortalNotRunning
            if self._running is None:
                self._thread = start_blocking_portal(name="fx.asyncio")
                # Starting takes milliseconds, in which the event loop goes on.
                self._running = await trio.to_thread.run_sync(
                    self._thread.__enter__, limiter=limiter_of("processes")
                )
            return self._running


def _end(thread: AbstractContextManager[BlockingPortal], running: BlockingPortal) -> None:
    with suppress(RuntimeError):  # it has ended by itself
        running.call(running.stop, True)
    thread.__exit__(None, None, None)


class _Call:
    """One call, seen from both loops."""

    def __init__(self, _func: Callable[[], Awaitable[Any]]) -> None:
        self._func = _func
        self._token = trio.lowlevel.current_trio_token()
        self._ended = trio.Event()
        self.result: outcome.Outcome[Any] | None = None

    async def run(self) -> None:
        """Run the call on the loop, in a task of asyncio's own, which is cancelled once.

        Scopes of anyio cancel again and again, and code for asyncio does not expect that
        of its clean-up.
        """
        import asyncio

        from anyio import CancelScope

        task = asyncio.create_task(self._keep_result())
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            with CancelScope(shield=True):
                await asyncio.wait({task})
        finally:
            with suppress(trio.RunFinishedError):
                self._token.run_sync_soon(self._ended.set)

    async def _keep_result(self) -> None:
        """Await the call. Raises nothing, which would end the loop."""
        from asyncio import CancelledError

        try:
            self.result = outcome.Value(await self._func())
        except CancelledError:
            self.result = outcome.Error(PortalCallCancelled(name_of(self._func)))
        except BaseException as error:
            self.result = outcome.Error(error)

    def unwrap(self) -> Any:
        """Return what the call returned, or raise what it raised."""
        assert self.result is not None
        return self.result.unwrap()

    async def settle(self) -> None:
        """Wait for the end of a call that was cancelled; raise what its clean-up raised."""
        with trio.CancelScope(shield=True), trio.move_on_after(STOP_TIMEOUT) as limit:
            await self._ended.wait()
        if limit.cancelled_caught:
            log.error("%s ignores its cancellation, and is abandoned", name_of(self._func))
        elif isinstance(self.result, outcome.Error):
            error = self.result.error
            if not isinstance(error, PortalCallCancelled):
                raise error
