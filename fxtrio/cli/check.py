"""`fx check`: find mistakes in settings, routes and page files without building."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from fxtrio.cli.output import json_option, print_done, root_option
from fxtrio.config import load_config


@click.command
@root_option
@json_option
def command(root: Path, as_json: bool) -> None:
    """Find mistakes without building.

    All problems of all files are reported, as ``path:line:column: message. Remedy.``
    """
    import trio

    from fxtrio.compile.problems import format_json, format_text
    from fxtrio.compile.syntax import check_all

    def report(line: str) -> None:
        if not as_json:
            click.echo(line, err=True)

    project = trio.run(partial(check_all, root, load_config(root), report=report))
    if as_json:
        click.echo(format_json(project.problems), nl=False)
    elif project.problems:
        click.echo(format_text(project.problems), nl=False)
    else:
        print_done(f"{len(project.pages)} files are fine.")
    raise SystemExit(1 if project.problems else 0)
