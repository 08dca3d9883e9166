"""An application's lifespan around the connections, which is optional.

Hypercorn implements the protocol; the errors about violations of it are ours.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import trio
from hypercorn.trio.lifespan import Lifespan
from hypercorn.utils import LifespanFailureError

from fxtrio.asgi_extensions import OWN_SERVER, START_REFUSED
from fxtrio.errors import FxtrioError
from fxtrio.tracebacks import first_of

_LONG = 5.0
"""Seconds after which a long startup is logged."""


class LifespanEnded(FxtrioError):
    """The application's lifespan ended before its shutdown."""

    def __init__(self) -> None:
        super().__init__(
            "lifespan: it ended while the server runs. "
            "Await the shutdown message, and correct what the log shows above."
        )


class StartFailed(LifespanFailureError):
    """The application does not start until somebody acts, and ``reason`` says all about it."""

    def __init__(self, reason: str) -> None:
        super().__init__("startup", reason)
        self.reason = reason


class ReportedLifespan(Lifespan):
    """Hypercorn's lifespan, which says why an application is served without one."""

    _heard = False  # whether the application has received anything

    async def asgi_receive(self) -> Any:
        """Give the application its next message."""
        message = await super().asgi_receive()
        self._heard = True
        return message

    async def asgi_send(self, message: Any) -> None:
        """Take a message of the application. Raises LifespanFailureError for a failure."""
        if message["type"] == "lifespan.startup.failed" and message.get(START_REFUSED):
            raise StartFailed(message["message"])
        await super().asgi_send(message)

    async def handle_lifespan(
        self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Run the application's lifespan. Raises LifespanFailureError when it reports one."""
        task_status.started()
        scope: Any = {
            "type": "lifespan",
            "asgi": {"spec_version": "2.0", "version": "3.0"},
            "state": self.state,
            "extensions": {OWN_SERVER: {}},
        }
        threads = trio.to_thread.run_sync, trio.from_thread.run
        try:
            await self.app(scope, self.asgi_receive, self.asgi_send, *threads)
        except LifespanFailureError:
            raise
        except BaseExceptionGroup as group:
            passed = group.subgroup((LifespanFailureError, trio.Cancelled))
            if passed is not None:
                raise passed from None
            await self._give_up(group)
        except Exception as error:
            await self._give_up(error)
        finally:
            self.startup.set()
            self.shutdown.set()
            await self.app_send_channel.aclose()
            await self.app_receive_channel.aclose()

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


async def start_lifespan(lifespan: ReportedLifespan, nursery: trio.Nursery) -> trio.Event:
    """Run the lifespan in ``nursery``; once it has started, return the event of its end.

    Hypercorn reports a failed startup as started for a moment, before the error reaches the
    nursery: the lifespan has then ended, so wait for its outcome.
    """
    returned = trio.Event()

    async def run(task_status: trio.TaskStatus[None]) -> None:
        await lifespan.handle_lifespan(task_status=task_status)
        returned.set()

    await nursery.start(run)
    async with trio.open_nursery() as waiting:
        waiting.start_soon(_log_long_start, lifespan)
        with suppress(trio.ClosedResourceError):  # it returned at once: it wants to hear of nothing
            await lifespan.wait_for_startup()
        waiting.cancel_scope.cancel()
    if lifespan.shutdown.is_set():
        await returned.wait()
    return returned


async def watch_lifespan(lifespan: ReportedLifespan) -> None:
    """Raise LifespanEnded when the lifespan breaks off. One that merely returns does no harm."""
    await lifespan.shutdown.wait()
    if not lifespan.supported:
        raise LifespanEnded


async def _log_long_start(lifespan: ReportedLifespan) -> None:
    await trio.sleep(_LONG)
    limit = lifespan.config.startup_timeout
    await lifespan.config.log.info("The application is still starting; it has %g s in all", limit)


def _reason(error: BaseException) -> str:
    """Return one line about an error; of a group about its first."""
    error = first_of(error)
    first = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
