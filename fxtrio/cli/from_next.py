"""`fx from-next`: make a project of Next.js one of fxtrio, as far as that is mechanical."""

from __future__ import annotations

from pathlib import Path

import click

from fxtrio.cli.conversion import conversion_options, convert


@click.command
@conversion_options
def command(root: Path, write: bool, force: bool, as_json: bool) -> None:
    """Convert a project of Next.js, with --write.

    Without it, what would be done is only shown. Files, imports, metadata, the document
    and calls of the router are converted. What is left to do by hand, such as all that
    runs on the server, is listed with its places, as they are afterwards.
    """
    from fxtrio.tools.convert.from_next import from_next

    convert(from_next, root, write=write, force=force, as_json=as_json)
