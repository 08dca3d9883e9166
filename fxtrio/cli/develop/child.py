"""The process that serves the development build: ``python -m fxtrio.cli.develop.child``.

It takes `ChildSettings` as JSON in the environment variable `VARIABLE`, writes one byte
to ``ready`` once it serves, and ends when its standard input does: so it never outlives
the command that started it.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import attrs
import trio

from fxtrio.cli.develop.handover import GRACE, VARIABLE, ChildSettings
from fxtrio.cli.develop.reload import ReloadingApp
from fxtrio.config import load_config
from fxtrio.http1.limits import ServerLimits
from fxtrio.imports import resolve
from fxtrio.supervise.options import ServeOptions
from fxtrio.supervise.server import run_server
from fxtrio.supervise.settings import make_config


def make_app(settings: ChildSettings) -> Any:
    """Import the project's app, or make one; it uses the development build."""
    root = Path(settings.root)
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    if settings.app:
        return resolve(settings.app)
    from fxtrio.app import create_app  # imported by the project's own app otherwise

    return create_app(root)


async def serve(settings: ChildSettings, app: Any) -> None:
    """Serve ``app`` until SIGTERM or the end of standard input."""
    base_url = load_config(Path(settings.root)).base_url
    reloading = ReloadingApp(app, version=settings.version, base_url=base_url)
    options = ServeOptions(
        app=settings.app,
        bind=(f"fd://{settings.socket}",),
        log_level="WARNING",
        graceful=GRACE,
        limits=ServerLimits(),
    )
    config = make_config(options)
    stop = trio.Event()
    async with trio.open_nursery() as nursery:
        run = nursery.start_soon
        run(_stop_at_signal, stop)
        run(_stop_with_parent, stop)
        run(_close_at_stop, stop, reloading)
        ready = ReadyPipe(settings.ready)
        await run_server(
            reloading,
            config,
            options.limits,
            sockets=config.create_sockets(),
            stop=stop,
            task_status=ready,
        )
        nursery.cancel_scope.cancel()


@attrs.define
class ReadyPipe(trio.TaskStatus[list[str]]):
    """Tells the parent that the server serves, in the form that `run_server` expects."""

    descriptor: int

    def started(self, value: Any = None) -> None:
        """Write the byte."""
        os.write(self.descriptor, b"1")
        os.close(self.descriptor)


async def _stop_at_signal(stop: trio.Event) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as received:
        async for _ in received:
            stop.set()


async def _stop_with_parent(stop: trio.Event) -> None:
    async with trio.lowlevel.FdStream(os.dup(0)) as parent:
        while await parent.receive_some():
            pass
    stop.set()


async def _close_at_stop(stop: trio.Event, reloading: ReloadingApp) -> None:
    await stop.wait()
    reloading.close()


def main() -> None:
    """Run the child. Errors of the project leave with their traceback on standard error."""
    settings = ChildSettings.from_json(os.environ.pop(VARIABLE))
    trio.run(serve, settings, make_app(settings))


if __name__ == "__main__":
    main()
