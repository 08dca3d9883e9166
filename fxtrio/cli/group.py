"""The group of commands. Each command's module is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from fxtrio import __version__
from fxtrio.cli.output import leaves, print_errors
from fxtrio.errors import FxtrioError

COMMANDS = ("init", "routes", "config", "secret", "version")
"""In the order of the help text. `fxtrio.cli.<name>` holds ``command``."""


class Commands(click.Group):
    """Imports commands late, and prints the framework's errors without a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command ``cmd_name``; None when there is none."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"fxtrio.cli.{cmd_name}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; exit with 1 after an error that was raised on purpose."""
        try:
            return super().invoke(ctx)
        except FxtrioError as error:
            print_errors([error])
            ctx.exit(1)
        except BaseExceptionGroup as group:
            errors = leaves(group)
            if not all(isinstance(error, FxtrioError) for error in errors):
                raise
            print_errors(errors)
            ctx.exit(1)


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="fx")
def main() -> None:
    """Build and serve pages of Python and React.

    Start with 'fx init shop', then 'cd shop' and 'fx dev'.
    """
