"""The process that serves the development build: ``python -m fxtrio.cli.develop.child``.

It takes `ChildSettings` as JSON in the environment variable `VARIABLE`, writes one byte
to ``ready`` once it serves, and ends when its standard input does: so it never outlives
the command that started it.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Any

import trio

from fxtrio.cli.develop.handover import GRACE, VARIABLE, ChildSettings
from fxtrio.cli.develop.hosts import HostGuard, development_app
from fxtrio.config import load_config
from fxtrio.errors import FxtrioError
from fxtrio.supervise.binding import adopt_sockets
from fxtrio.supervise.importer import load_application
from fxtrio.supervise.options import ServeOptions
from fxtrio.supervise.server_process import Surroundings, serve_here
from fxtrio.tracebacks import trimmed


def make_app() -> HostGuard:
    """Import the project's app, or make one; it uses the development build.

    Exits when that fails, after a traceback that begins in the project's own code.
    """
    settings = ChildSettings.from_json(os.environ[VARIABLE])
    root = Path(settings.root)
    try:
        app = _project_app(root, settings.app)
        config = load_config(root)
    except FxtrioError as error:
        raise SystemExit(str(error)) from None
    except Exception as error:  # application code
        traceback.print_exception(trimmed(error))
        raise SystemExit(1) from None
    return development_app(app, config, version=settings.version, host=settings.host)


def _project_app(root: Path, name: str) -> Any:
    if name:
        return load_application(ServeOptions(app=name, app_dir=str(root)))
    from fxtrio.app import create_app  # imported by the project's own app otherwise

    return create_app(root)


def main() -> int:
    """Serve until told to stop, and return the exit code."""
    settings = ChildSettings.from_json(os.environ[VARIABLE])
    options = ServeOptions(
        app="fxtrio.cli.develop.child:make_app",
        factory=True,
        app_dir=settings.root,
        log_level="WARNING",
        graceful=GRACE,
    )

    def tell_ready(_: list[str]) -> None:
        os.write(settings.ready, b"1")
        os.close(settings.ready)

    around = Surroundings(ready=tell_ready, until=_wait_for_parent)
    return serve_here(options, adopt_sockets([settings.socket]), around)


async def _wait_for_parent() -> None:
    async with trio.lowlevel.FdStream(os.dup(0)) as parent:
        while await parent.receive_some():
            pass


if __name__ == "__main__":
    sys.exit(main())
