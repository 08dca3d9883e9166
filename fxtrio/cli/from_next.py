"""`fx from-next`: make a project of Next.js one of fxtrio, as far as that is mechanical."""

from __future__ import annotations

from pathlib import Path

import click

from fxtrio.cli.conversion import conversion_options, convert


@click.command
@conversion_options
def command(root: Path, write: bool, force: bool, as_json: bool) -> None:
    """Convert a Next.js project to fxtrio.

    Without --write, it only prints the plan. It converts files, imports, metadata, the document
    and calls of the router, and lists the remaining manual steps, such as all server code, with
    their places in the converted files.
    """
    from fxtrio.tools.convert.from_next import from_next

    convert(from_next, root, write=write, force=force, as_json=as_json)
