"""The process that serves the development build; `child_process` begins with it.

It takes `ChildSettings` as JSON in the environment variable `VARIABLE`, and waits for `BEGIN`
on its standard input, and for `SERVE` once it has imported the app. It says by a line to
``replies`` that it has done so, by another that it serves, answers each order (`Swap`) of its
standard input there, and ends when that does: so it never outlives the command that started it.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
import time
import traceback
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import attrs
import msgspec
import trio

from fxtrio.config import Config, load_config
from fxtrio.context import developing
from fxtrio.develop.processes.debugger import replace_breakpoint
from fxtrio.develop.processes.line_stream import read_lines
from fxtrio.develop.processes.messages import (
    BEGIN,
    GRACE,
    SERVE,
    VARIABLE,
    ChildSettings,
    Swap,
    Swapped,
)
from fxtrio.develop.reload.hot_reload import Swapper, open_vite_renderer
from fxtrio.develop.reload.import_graph import noting_imports
from fxtrio.develop.report.blocking_calls import watch_stalls
from fxtrio.develop.report.request_logs import Records
from fxtrio.develop.serving.allowed_hosts import HostGuard, development_app
from fxtrio.develop.vite.runtime_files import RuntimeFiles
from fxtrio.develop.vite.vite_proxy import Modules
from fxtrio.errors import FxtrioError
from fxtrio.imports import resolve
from fxtrio.observe.stalls import watch_import
from fxtrio.serve.request.hooks import hooks_of
from fxtrio.server.http1.limits import ServerLimits
from fxtrio.server.supervise.application.importer import load_application
from fxtrio.server.supervise.listening.binding import adopt_sockets
from fxtrio.server.supervise.options import ServeOptions
from fxtrio.server.supervise.server_process import ParentInterface, serve_here
from fxtrio.tracebacks import trimmed

_DONE = b"{}\n"
_PRECISION = 1.0  # seconds: four looks in that time are half of what an idle process costs
_MORE = 3.0  # than the time that the app has to end after its parent (seconds)
_BEGUN = msgspec.json.encode(attrs.asdict(Swapped(begun=True))) + b"\n"


def make_app() -> HostGuard:
    """Import the project's app, or make one; it uses the development build.

    Exits when that fails, after a traceback that begins in the project's own code.
    """
    settings = ChildSettings.from_json(os.environ[VARIABLE])
    root = Path(settings.root)
    try:
        app = _project_app(root, settings.app)
        config = load_config(root)
        _require_names(app)
    except FxtrioError as error:
        raise SystemExit(str(error)) from None
    except (Exception, SystemExit) as error:  # application code
        traceback.print_exception(trimmed(error))
        raise SystemExit(1) from None
    swapper: Swapper = developing.get()
    swapper.records.lines = config.dev.console
    runtime = RuntimeFiles(root, config.base_url)
    modules = Modules(Path(settings.vite), swapper.records, runtime)
    if find_spec("mcp") is not None:
        app = _with_tools(app, settings, config)
    os.write(settings.replies, _DONE)
    if os.read(0, len(SERVE)) != SERVE:
        raise SystemExit(0)  # the parent has ended
    return development_app(app, config, modules=modules, host=settings.host, inside=swapper.inside)


def _with_tools(app: Any, settings: ChildSettings, config: Config) -> Any:
    """Return ``app`` with the tools for agents, whose extra is installed."""
    # A room of its own, which may be removed.
    from fxtrio.develop.mcp.endpoint import ToolsEndpoint
    from fxtrio.develop.mcp.live_tools import Here

    with socket.socket(fileno=os.dup(settings.socket)) as listening:
        host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return ToolsEndpoint(app, Path(settings.root), Here(host, port, config.base_url))


def _project_app(root: Path, name: str) -> Any:
    if name:
        return load_application(ServeOptions(app=name, app_dir=str(root)))
    from fxtrio.app import create_app  # imported by the project's own app otherwise

    return create_app(root)


def _require_names(app: object) -> None:
    """Raise DottedNameUnknown for what the settings name and nothing has, as the start would.

    The process that serves ends before the start, and is not to end for that.
    """
    from fxtrio.application import Application  # imported by now

    if isinstance(app, Application):
        config = app.site.config
        hooks_of(config, resolve)
        for name in filter(None, (*config.middleware, config.translate)):
            resolve(name)


def serve() -> int:
    """Serve until the order to stop, and return the exit code."""
    settings = ChildSettings.from_json(os.environ[VARIABLE])
    if os.read(0, len(BEGIN)) != BEGIN:
        return 0
    threading.Thread(target=_end_behind_parent, name="fx-parent", daemon=True).start()
    replace_breakpoint()
    options = ServeOptions(
        app="fxtrio.develop.serving.child:make_app",
        factory=True,
        app_dir=settings.root,
        log_level="WARNING",
        graceful=GRACE,
        limits=ServerLimits(precision=_PRECISION),
    )
    root = Path(settings.root)

    serving = trio.Event()

    def tell_ready(_: list[str]) -> None:
        os.write(settings.replies, _DONE)
        serving.set()

    with noting_imports(root) as importers:
        swapper = Swapper(
            root=root,
            open_renderer=partial(open_vite_renderer, Path(settings.vite)),
            importers=importers,
            records=Records(root),
            app_module=settings.app.partition(":")[0],
        )
        developing.set(swapper)
        orders = partial(_take_orders, swapper, settings.replies, serving)
        around = ParentInterface(ready=tell_ready, until=orders)
        return serve_here(options, adopt_sockets([settings.socket]), around)


def _end_behind_parent() -> None:
    """Kill this process and what it has started when the parent has ended before it.

    For code that does not end by itself, such as a module that is imported for ever.
    """
    parent = select.poll()
    parent.register(0, 0)  # of a pipe whose other end is closed nothing else is reported
    parent.poll()
    time.sleep(GRACE + _MORE)
    if os.getpgrp() == os.getpid():  # as `fx dev` starts it
        os.killpg(0, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


async def _take_orders(swapper: Swapper, replies: int, serving: trio.Event) -> None:
    """Follow the parent's orders until it has ended; watch the event loop and the log."""
    with swapper.records.listening(), swapper.inside.open():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_name_stalls, serving)
            await _follow(swapper, replies)
            nursery.cancel_scope.cancel("the parent has ended")


async def _name_stalls(serving: trio.Event) -> None:
    await serving.wait()  # whoever holds up the start holds up no visitor
    with watch_stalls():
        await trio.sleep_forever()


async def _follow(swapper: Swapper, replies: int) -> None:
    async with (
        trio.lowlevel.FdStream(os.dup(0)) as parent,
        trio.lowlevel.FdStream(os.dup(replies)) as out,
    ):
        async for line in read_lines(parent):
            await out.send_all(_BEGUN)
            order = msgspec.json.decode(line, type=Swap)
            with watch_import():
                done = swapper.swap(order)
            if not (done.failed or done.restart):
                swapper.records.tell_swapped(done.sources, at_once=order.at_once)
            await out.send_all(msgspec.json.encode(attrs.asdict(done)) + b"\n")
