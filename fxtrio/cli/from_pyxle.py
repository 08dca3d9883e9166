"""`fx from-pyxle`: make a project of Pyxle one of fxtrio, as far as that is mechanical."""

from __future__ import annotations

from pathlib import Path

import click

from fxtrio.cli.conversion import conversion_options, convert


@click.command
@conversion_options
def command(root: Path, write: bool, force: bool, as_json: bool) -> None:
    """Convert a Pyxle project to fxtrio.

    Without --write, it only prints the plan. It converts files, imports, settings, names of
    migrations and asyncio functions, and lists the remaining manual steps with their places in
    the converted files.
    """
    from fxtrio.tools.convert.from_pyxle import from_pyxle

    convert(from_pyxle, root, write=write, force=force, as_json=as_json)
