"""What commands print with, and the options they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console

Function = TypeVar("Function", bound=Callable[..., object])

UNLIMITED = 100_000
"""Columns of an output that is no terminal: a table takes only those that its cells need."""


def console(*, stderr: bool = False) -> Console:
    """Return a console that neither breaks lines nor cuts cells when its output is no terminal."""
    # Heavy, and a server that starts prints nothing.
    from rich.console import Console

    console_of_stream = Console(stderr=stderr, highlight=False, markup=False)
    if not console_of_stream.file.isatty():  # rich takes FORCE_COLOR for a terminal
        console_of_stream.soft_wrap = True
        console_of_stream.width = UNLIMITED
    return console_of_stream


def print_errors(errors: Iterable[BaseException]) -> None:
    """Print each error to stderr without its traceback.

    Every line is a problem of its own, but for those that begin with a space.
    """
    # Heavy: see `console`.
    from rich.text import Text

    from fxtrio.log import printable

    out = console(stderr=True)
    for error in errors:
        for line in printable(str(error)).splitlines():
            label = Text("" if line[:1].isspace() else "error ", style="bold red")
            out.print(label, Text(line), sep="", soft_wrap=True)


def print_done(message: str) -> None:
    """Print one line about what has been done."""
    # Heavy: see `console`.
    from rich.text import Text

    console().print(Text("✓ ", style="bold green"), Text(message), sep="", soft_wrap=True)


def print_warning(message: str, out: Console | None = None) -> None:
    """Print one line about what may not be right."""
    # Heavy: see `console`.
    from rich.text import Text

    label = Text("warning ", style="bold yellow")
    (out or console()).print(label, Text(message), sep="", soft_wrap=True)


def root_option(function: Function) -> Function:
    """Add ``--root``: the project folder, handed over as an absolute ``root`` path."""
    return click.option(
        "--root",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        default=".",
        show_default="the current folder",
        callback=lambda _, __, value: value.resolve(),
        help="The project folder.",
    )(function)


def json_option(function: Function) -> Function:
    """Add ``--json``, handed over as ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def app_option(function: Function) -> Function:
    """Add ``--app``, handed over as ``app``; see `find_app`."""
    return click.option(
        "--app",
        metavar="MODULE:NAME",
        help="The ASGI app.  [default: app:app when the project has an app.py]",
    )(function)


def find_app(root: Path, named: str | None) -> str:
    """Return ``module:name`` of the project's ASGI app; "" when it has none of its own."""
    if named is not None and ":" not in named:
        raise click.BadParameter(f"{named!r} is not of the form module:name.", param_hint="--app")
    return named or ("app:app" if (root / "app.py").is_file() else "")


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
