"""An application's lifespan around the connections, which is optional.

Hypercorn's own would import HTTP/2, which takes as long as a fifth of a start.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import trio

from fxtrio.asgi_extensions import OWN_SERVER, START_REJECTED
from fxtrio.errors import FxtrioError, PlacedError
from fxtrio.server.supervise.hypercorn_config import ServerConfig
from fxtrio.tracebacks import first_of

_LONG = 5.0
"""Seconds after which a long startup is logged."""

_FAILED = {"lifespan.startup.failed": "startup", "lifespan.shutdown.failed": "shutdown"}


class LifespanFailed(FxtrioError):
    """The application reported that its startup or shutdown failed."""

    def __init__(self, stage: str, reason: str) -> None:
        super().__init__(f"Lifespan failure in {stage}. {reason or 'It gives no reason.'}")


class LifespanTooSlow(PlacedError):
    """The application's startup or shutdown took longer than its limit."""

    def __init__(self, stage: str, limit: float, remedy: str = "") -> None:
        super().__init__("", f"The application did not {stage} within {limit:g} s", remedy)


class LifespanEnded(PlacedError):
    """The application's lifespan ended before its shutdown."""

    remedy = "Await the shutdown message, and fix the error in the log above"

    def __init__(self) -> None:
        super().__init__("lifespan", "it ended while the server runs")


class StartFailed(LifespanFailed):
    """The application does not start until somebody acts, and ``reason`` says all about it."""

    def __init__(self, reason: str) -> None:
        super().__init__("startup", reason)
        self.reason = reason


class UnexpectedMessageError(Exception):
    """The application sent a message that a lifespan does not have."""


class Lifespan:
    """Runs the lifespan of an application, and says why one is served without it."""

    def __init__(
        self, app: Callable[..., Awaitable[None]], config: ServerConfig, state: dict[str, Any]
    ) -> None:
        """``state`` is what the application may fill, for the scopes of its requests."""
        self.app = app
        self.config = config
        self.state = state
        self.supported = True
        self.startup = trio.Event()
        self.shutdown = trio.Event()
        self._ends = trio.Event()
        self._heard = False  # whether the application has received anything
        self._received = 0  # messages

    async def wait_for_startup(self) -> None:
        """Return once the application has started. Raises LifespanTooSlow."""
        limit = self.config.startup_timeout
        with trio.move_on_after(limit):
            return await self.startup.wait()
        remedy = "Raise timeouts.startup, or move slow work to a background task"
        raise LifespanTooSlow("start", limit, remedy)

    async def wait_for_shutdown(self) -> None:
        """Let the application shut down, and return once it has. Raises LifespanTooSlow."""
        self._ends.set()
        limit = self.config.shutdown_timeout
        with trio.move_on_after(limit):
            return await self.shutdown.wait()
        raise LifespanTooSlow("shut down", limit)

    async def _receive(self) -> dict[str, str]:
        """Return the next message for the application; after the last it waits for ever."""
        self._heard = True
        if self._received == 0:
            await trio.lowlevel.checkpoint()
        elif self._received == 1:
            await self._ends.wait()
        else:
            await trio.sleep_forever()
        self._received += 1  # not before: an application may cancel a call, and call again
        return {"type": "lifespan.startup" if self._received == 1 else "lifespan.shutdown"}

    async def _send(self, message: Any) -> None:
        """Take a message of the application. Raises LifespanFailed for a failure.

        Starlette also reports that its startup was cancelled, by a server that stops meanwhile:
        that is none.
        """
        kind = message["type"]
        if kind in _FAILED:
            await trio.lowlevel.checkpoint_if_cancelled()
        if kind == "lifespan.startup.complete":
            self.startup.set()
        elif kind == "lifespan.shutdown.complete":
            self.shutdown.set()
        elif kind not in _FAILED:
            raise UnexpectedMessageError(kind)
        elif message.get(START_REJECTED):
            raise StartFailed(message["message"])
        else:
            raise LifespanFailed(_FAILED[kind], message.get("message", ""))

    async def run(self) -> None:
        """Run the application's lifespan. Raises LifespanFailed when it reports one."""
        scope: Any = {
            "type": "lifespan",
            "asgi": {"spec_version": "2.0", "version": "3.0"},
            "state": self.state,
            "extensions": {OWN_SERVER: {}},
        }
        try:
            await self.app(scope, self._receive, self._send)
        except LifespanFailed:
            raise
        except BaseExceptionGroup as group:
            passed = group.subgroup((LifespanFailed, trio.Cancelled))
            if passed is not None:
                raise passed from None
            await self._give_up(group)
        except Exception as error:
            await self._give_up(error)
        finally:
            self.startup.set()
            self.shutdown.set()

    async def _give_up(self, error: BaseException) -> None:
        self.supported = False
        log = self.config.log
        if self.startup.is_set():
            when = "after its shutdown" if self.shutdown.is_set() else "while the server runs"
            await log.exception("The lifespan failed %s", when)
        elif self._heard:
            await log.warning(
                "The lifespan failed at the start, and the application is served without it: %s",
                _reason(error),
            )
        else:
            await log.info("The application is served without a lifespan: %s", _reason(error))


async def start_lifespan(lifespan: Lifespan, nursery: trio.Nursery) -> trio.Event:
    """Run the lifespan in ``nursery``; once it has started, return the event of its end.

    A failed startup counts as started for a moment, before the error reaches the nursery: the
    lifespan has then ended, so wait for its outcome.
    """
    returned = trio.Event()

    async def run() -> None:
        await lifespan.run()
        returned.set()

    nursery.start_soon(run)
    async with trio.open_nursery() as waiting:
        waiting.start_soon(_log_long_start, lifespan)
        await lifespan.wait_for_startup()
        waiting.cancel_scope.cancel()
    if lifespan.shutdown.is_set():
        await returned.wait()
    return returned


async def watch_lifespan(lifespan: Lifespan) -> None:
    """Raise LifespanEnded when the lifespan breaks off. One that merely returns does no harm."""
    await lifespan.shutdown.wait()
    if not lifespan.supported:
        raise LifespanEnded


async def _log_long_start(lifespan: Lifespan) -> None:
    await trio.sleep(_LONG)
    limit = lifespan.config.startup_timeout
    await lifespan.config.log.info("The application is still starting; it has %g s in all", limit)


def _reason(error: BaseException) -> str:
    """Return one line about an error; of a group about its first."""
    error = first_of(error)
    first = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
