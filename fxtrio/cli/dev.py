"""`fx dev`: serve a project while it is worked on."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fxtrio.cli.output import app_option, find_app, root_option
from fxtrio.temporary_folders import open_temporary_folder

if TYPE_CHECKING:
    from fxtrio.develop.build.dev_project import DevProject
    from fxtrio.develop.loop import Loop
    from fxtrio.develop.processes.early_node import EarlyNode
    from fxtrio.develop.processes.launch import Ahead, Server

_ENDS = (signal.SIGTERM, signal.SIGHUP)  # the second: the terminal is closed


@click.command
@root_option
@app_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port, or the next free one; 0 for any free port.",
)
@click.option(
    "--inspect",
    type=click.IntRange(1, 65535),
    is_flag=False,
    flag_value=5678,
    metavar="[PORT]",
    help="Let a debugger attach to this port of 127.0.0.1 (5678); needs debugpy.",
)
def command(root: Path, app: str | None, host: str, port: int, inspect: int | None) -> None:
    """Serve the project while you work on it.

    Saved changes appear at once: pages keep their state, and only changed code runs again.
    Errors are shown here and in the browser. Ctrl-C stops the server.
    """
    from fxtrio.cli.standard_streams import open_closed_descriptors
    from fxtrio.develop.processes.early_node import starting_early

    open_closed_descriptors()
    begun = _interrupt_by(*_ENDS)
    with starting_early(root) as node:
        _run_command(root, app, host, port, inspect, node, begun)


def _run_command(
    root: Path,
    app: str | None,
    host: str,
    port: int,
    inspect: int | None,
    node: EarlyNode | None,
    begun: Callable[[], None],
) -> None:
    # Heavy, and Node has been started meanwhile.
    from fxtrio.config import load_config, load_env_files
    from fxtrio.develop.listener import open_listener
    from fxtrio.develop.processes.debugger import require_debugger
    from fxtrio.develop.processes.forked_server import can_fork, fork_server
    from fxtrio.develop.processes.launch import Server, starting_ahead

    if inspect is not None:
        require_debugger()
    variables = load_env_files(root)  # the server process inherits it
    config = load_config(root)
    bracketed = f"[{host}]" if ":" in host else host
    # All addresses of the machine are none that a browser can ask for.
    named = "localhost" if host in ("0.0.0.0", "::") else bracketed
    find = partial(find_app, root, app)
    forks = inspect is None and can_fork(variables)
    with open_listener(bracketed, port) as socket, open_temporary_folder("fxtrio-dev-") as sockets:
        server = Server(
            root=root,
            app=find(),
            host=named,
            vite=sockets,
            socket=socket,
            inspect=inspect or 0,
        )
        bound = socket.getsockname()[1]
        taken = f"Port {port} is taken: this is {bound}." if port not in (0, bound) else ""
        with starting_ahead(server, config, node, forks=forks) as ahead:
            url = f"http://{named}:{bound}{config.base_url}/"
            attach = f"A debugger may attach to 127.0.0.1:{inspect}." if inspect else ""
            for line in filter(None, (taken, attach)):
                click.echo(line)
            _import_parts()
            if forks:
                ahead.fork(server, fork_server)
            _develop(server, ahead, url, variables, find, begun)


def _import_parts() -> None:
    """Import what follows the project: heavy, and Node has been started meanwhile.

    No garbage is collected, and no collection looks at the modules later: what imports make stays.
    """
    gc.disable()
    try:
        import fxtrio.develop.build.dev_project
        import fxtrio.develop.keys
        import fxtrio.develop.loop
        import fxtrio.develop.reload.watcher
        import fxtrio.develop.report.terminal  # noqa: F401  # only loaded
    finally:
        gc.enable()
    gc.freeze()


def _interrupt_by(*signals: int) -> Callable[[], None]:
    """Let signals do what Ctrl-C does, from the beginning: nothing is left that was started.

    One that is ignored stays so: that is what `nohup` is for. Call what is returned when trio is
    to begin: it raises KeyboardInterrupt for a signal that was lost. Python ignores what a signal
    raises in a callback of its own, as at the end of an import.
    """
    came: list[int] = []

    def interrupt(number: int, _: object) -> None:
        came.append(number)
        raise KeyboardInterrupt

    ctrl_c = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ctrl_c:
        signal.signal(signal.SIGINT, interrupt)
    heeded = [number for number in signals if signal.getsignal(number) is signal.SIG_DFL]
    for number in heeded:
        signal.signal(number, interrupt)

    def begun() -> None:
        if ctrl_c:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # trio replaces no other
        for number in heeded:
            signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))
        if came:
            raise KeyboardInterrupt

    return begun


def _develop(
    server: Server,
    ahead: Ahead,
    url: str,
    variables: dict[str, str],
    find: Callable[[], str],
    begun: Callable[[], None],
) -> None:
    """Follow the project until it is interrupted."""
    import trio

    from fxtrio.develop.build.dev_project import DevProject
    from fxtrio.develop.keys import HINT, has_keyboard
    from fxtrio.develop.loop import Loop
    from fxtrio.develop.reload.watcher import run_watch
    from fxtrio.develop.report.terminal import Terminal

    terminal = Terminal(url=url)
    typing = has_keyboard()
    if typing:
        terminal.line(HINT)
    watch = partial(run_watch, warn=terminal.warn)
    development = partial(
        Loop, server=server, report=terminal, ahead=ahead, watch=watch, find_app=find
    )
    dev_project = partial(
        DevProject,
        root=server.root,
        sockets=server.vite,
        report=terminal.line,
        found=terminal.found,
        ahead=ahead,
        variables=variables,
    )
    begun()
    trio.run(_run, development, dev_project, url if typing else "")


async def _run(
    make_loop: Callable[..., Loop], make_project: Callable[..., DevProject], url: str
) -> None:
    """Run the loop with its project, until it is interrupted.

    ``url`` is what a key opens; empty when nobody sits there to type.
    """
    import trio

    from fxtrio.develop.keys import run_keys

    request_restart, restarts = trio.open_memory_channel[None](1)
    async with trio.open_nursery() as nursery:
        if url:
            nursery.start_soon(run_keys, sys.stdin.fileno(), url, request_restart)
        loop = make_loop(project=make_project(nursery=nursery), restart=restarts)
        await run_until_interrupted(loop)
        nursery.cancel_scope.cancel()


async def run_until_interrupted(loop: Loop) -> None:
    """Run the loop until Ctrl-C or one of `_ENDS`; everything it has started has ended then."""
    import trio

    async with trio.open_nursery() as nursery:
        nursery.start_soon(loop.run)
        heeded = [one for one in _ENDS if signal.getsignal(one) is not signal.SIG_IGN]
        with trio.open_signal_receiver(signal.SIGINT, *heeded) as received:
            async for _ in received:
                nursery.cancel_scope.cancel()
                break
