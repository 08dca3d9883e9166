"""The arguments of `fx check` and `fx typecheck`: files and folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

paths_argument = click.argument(
    "paths", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="[PATHS]..."
)
"""Files and folders that exist, as ``paths``."""


def require_inside(paths: Sequence[Path], root: Path) -> None:
    """Raise BadParameter for a path that is not in the project in ``root``."""
    for path in paths:
        if not path.resolve().is_relative_to(root.resolve()):
            message = f"{path} is not in {root}. Name the project with --root."
            raise click.BadParameter(message, param_hint="PATHS")
