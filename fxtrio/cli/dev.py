"""`fx dev`: serve a project while it is worked on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fxtrio.cli.output import app_option, console, find_app, root_option

if TYPE_CHECKING:
    from fxtrio.cli.develop.loop import Loop
    from fxtrio.cli.develop.terminal import Terminal


@click.command
@root_option
@app_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port, or the next that is free; 0 takes any.",
)
def command(root: Path, app: str | None, host: str, port: int) -> None:
    """Serve the project while you work on it.

    When a file changes, the project is built again and browsers reload. What is wrong is
    shown here and in the browser. Ctrl-C ends it.
    """
    # Imported here: `fx --help` would otherwise wait for the whole framework.
    import trio

    from fxtrio.cli.develop.listener import open_listener
    from fxtrio.cli.develop.loop import Loop
    from fxtrio.cli.develop.terminal import Terminal
    from fxtrio.config import load_config, load_env_files

    load_env_files(root)  # the server process inherits it
    terminal = Terminal(console())
    builds = count()

    async def build() -> None:
        # The first build may install the bundler; later ones take a second or two.
        report = terminal.line if next(builds) == 0 else _ignore
        await build_and_warn(root, terminal, report)

    shown = f"[{host}]" if ":" in host else host
    with open_listener(shown, port) as listener:
        bound = listener.getsockname()[1]
        if port not in (0, bound):
            terminal.line(f"Port {port} is taken: this is {bound}.")
        # All addresses of the machine are none that a browser can ask for.
        named = "localhost" if host in ("0.0.0.0", "::") else shown
        terminal.line(f"fx dev: http://{named}:{bound}{load_config(root).base_url}/")
        loop = Loop(
            root=root,
            app=find_app(root, app),
            host=named,
            listener=listener,
            build=build,
            report=terminal,
        )
        trio.run(partial(run_until_interrupted, loop))


async def build_and_warn(root: Path, terminal: Terminal, report: Callable[[str], None]) -> None:
    """Make the development build, and show what may be a mistake. Raises what the build does."""
    from fxtrio.compile.build import build_project
    from fxtrio.config import load_config

    build = await build_project(root, load_config(root), mode="development", report=report)
    for warning in build.warnings:
        terminal.warn(str(warning))


def _ignore(line: str) -> None:
    pass


async def run_until_interrupted(loop: Loop) -> None:
    """Run the loop until Ctrl-C or SIGTERM; everything it has started has ended then."""
    import signal

    import trio

    async with trio.open_nursery() as nursery:
        nursery.start_soon(loop.run)
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:
            async for _ in received:
                nursery.cancel_scope.cancel()
                break
