"""`fx openapi`: the OpenAPI document of actions and endpoints."""

from __future__ import annotations

from pathlib import Path

import click

from fxtrio.cli.output import print_done, root_option
from fxtrio.compile.plurals import counted
from fxtrio.errors import display_path


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
    from fxtrio.tools.openapi.describe import describe, written

    load_env_files(root)
    described = trio.run(describe, root, load_config(root))
    for left_out in described.left_out:
        message = f"{left_out}: OpenAPI cannot tell it from another path, so it is left out."
        click.echo(message, err=True)
    text = written(described.document)
    if output is None:
        click.echo(text, nl=False)
        return
    output.write_text(text, encoding="utf-8")
    print_done(f"{counted(len(described.operations), 'operation')} in {display_path(output)}.")
