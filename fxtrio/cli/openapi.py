"""`fx openapi`: the OpenAPI document of actions and endpoints."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fxtrio.cli.output import print_done, root_option
from fxtrio.compile.plurals import counted
from fxtrio.errors import display_path

if TYPE_CHECKING:
    from fxtrio.config import Config
    from fxtrio.tools.openapi.document import Description


@click.command
@root_option
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write to this file instead of the standard output.",
)
def command(root: Path, output: Path | None) -> None:
    """Write the OpenAPI 3.1 document of the actions and endpoints.

    Bodies, results and errors are described as the runtime reads and sends them. The
    project's Python code is imported in a separate process; nothing is opened or served.
    The same project always gives the same document.
    """
    import trio

    from fxtrio.config import load_config, load_env_files
    from fxtrio.tools.openapi.describe import written

    load_env_files(root)
    described = trio.run(_describe, root, load_config(root))
    for left_out in described.left_out:
        message = f"{left_out}: OpenAPI cannot tell it from another path, so it is left out."
        click.echo(message, err=True)
    text = written(described.document)
    if output is None:
        click.echo(text, nl=False)
        return
    output.write_text(text, encoding="utf-8")
    print_done(f"{counted(len(described.operations), 'operation')} in {display_path(output)}.")


async def _describe(root: Path, config: Config) -> Description:
    from fxtrio.tools.openapi.describe import describe

    async with explaining(root, config):
        return await describe(root, config)


@asynccontextmanager
async def explaining(root: Path, config: Config) -> AsyncIterator[None]:
    """Let the description of a project fail for what `fx check` reports, if that is anything.

    Raises CompileFailed, and otherwise what the block raises.
    """
    from fxtrio.cli.import_check.process import find_causes
    from fxtrio.compile.problems import CompileFailed
    from fxtrio.tools.openapi.describe import NotDescribed

    try:
        yield
    except NotDescribed:
        causes = await find_causes(root, config)
        if not causes:
            raise
        raise CompileFailed(causes) from None
