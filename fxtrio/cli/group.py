"""The group of commands. Each command's module is imported when the command runs."""

from __future__ import annotations

import atexit
import errno
import gc
import os
import re
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from traceback import walk_tb
from typing import Any

import click

from fxtrio.cli.exit_codes import INTERRUPTED
from fxtrio.cli.output import print_errors
from fxtrio.errors import FxtrioError, PlacedError, leaves
from fxtrio.nearest import nearest

# Else Python looks twice for garbage among all that was imported before it exits.
atexit.register(gc.freeze)

COMMANDS = {
    "init": "Create the project NAME in a new folder.",
    "dev": "Serve the project while you work on it.",
    "check": "Find errors without building: in all files, or only in PATHS.",
    "typecheck": "Check the types of all pages, or only of those in PATHS.",
    "format": "Format page files with ruff and prettier.",
    "lsp": "Run the language server for page files.",
    "build": "Build the project for production, into .fx/build.",
    "serve": "Serve the build of 'fx build'.",
    "export": "Write the pages as files into OUT, for hosts that run no code.",
    "routes": "List the routes of the pages folder, and those of plugins.",
    "openapi": "Write the OpenAPI 3.1 document of the actions and endpoints.",
    "db": "Write and run the migrations of the database.",
    "jobs": "Run and manage durable jobs.",
    "tree": "Show the tasks of a running app, and where each waits.",
    "config": "Print the settings that the app would run with.",
    "secret": "Print a new random key for FX_SECRET_KEY.",
    "mcp": "Offer tools to coding agents with the Model Context Protocol.",
    "docs": "Read the documentation of this version, offline.",
    "from-pyxle": "Convert a Pyxle project to fxtrio.",
    "from-next": "Convert a Next.js project to fxtrio.",
    "version": "Print the versions of fxtrio and its main dependencies.",
}
"""Names and summaries, in the order of the help text, which imports none of the commands.

`fxtrio.cli.<name>` holds ``command``, with ``_`` for ``-``; its help begins with the summary.
"""

SETTINGS_FILE = "fx.config.json"
"""`fxtrio.config.CONFIG_FILE`, whose package takes longer to import than the help to print."""


class Commands(click.Group):
    """Imports each command at its first use, and prints the framework's errors without a traceback.

    The plugins of the project in the current folder may add commands.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, those of plugins last."""
        try:
            return [*COMMANDS, *plugin_commands(Path.cwd())]
        except FxtrioError:  # `fx check` reports it; the help must work without
            return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command ``cmd_name``; None when there is none."""
        if cmd_name not in COMMANDS:
            return plugin_commands(Path.cwd()).get(cmd_name)
        command: click.Command = import_module(f"fxtrio.cli.{cmd_name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing those of fxtrio."""
        commands: dict[str, click.Command] = {
            name: click.Command(name, help=summary) for name, summary in COMMANDS.items()
        }
        with suppress(FxtrioError):  # `fx check` reports it; the help must work without
            commands.update(
                (name, command)
                for name, command in plugin_commands(Path.cwd()).items()
                if name not in COMMANDS and not command.hidden
            )
        width = formatter.width - 6 - max(map(len, commands))
        rows = [(name, each.get_short_help_str(width)) for name, each in commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of ``args``; the error for an unknown one names a similar one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = nearest(args[0], self.list_commands(ctx))
            if not near:
                raise
            message = f"{error.message} Did you mean {near!r}?"
            raise click.UsageError(message, ctx) from error

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command; exit with 1 after an error that was raised on purpose.

        So are those that a file of the project raises while the command imports it.
        """
        try:
            return super().main(*args, **kwargs)
        except BaseExceptionGroup as group:
            errors = leaves(group)
            if any(isinstance(error, KeyboardInterrupt) for error in errors):
                raise SystemExit(INTERRUPTED) from None
            explained = _explained(errors)
            if not explained:
                raise
        except (Exception, SystemExit) as error:
            explained = _explained([error])
            if not explained:
                raise
        _explain(explained)
        raise SystemExit(1)


_REMEDIES = {
    errno.ENOSPC: "Free some space, then run the command again",
    errno.EDQUOT: "Free some space, then run the command again",
    errno.EACCES: "Correct its permissions, or choose another folder",
    errno.EPERM: "Correct its permissions, or choose another folder",
    errno.EROFS: "Choose a folder that can be written",
    errno.EMFILE: "Raise the limit of open files ('ulimit -n')",
    errno.ENAMETOOLONG: "Choose shorter names",
    errno.EIO: "Check the disk",
}
"""What to do about errors of the file system that are no defects of a program."""


class FileAccessFailed(PlacedError):
    """A file could not be read or written: a full disk, or missing permissions."""

    @classmethod
    def of(cls, error: OSError) -> FileAccessFailed | None:
        """Explain an error of the file system, if it is no defect."""
        number, file = error.errno, error.filename
        if isinstance(error, shutil.Error) and isinstance(error.args[0], list):  # of `copytree`
            _source, file, cause = error.args[0][0]
            found = re.match(r"\[Errno (\d+)\]", str(cause))
            number = int(found[1]) if found else None
        if number not in _REMEDIES:
            return None
        place = os.fsdecode(file) if isinstance(file, str | bytes | os.PathLike) else ""
        return cls(place, os.strerror(number), _REMEDIES[number])


def _explained(errors: Sequence[BaseException]) -> list[FxtrioError]:
    """Return the errors to print; none if one is a defect, or the end of a command."""
    explained = []
    for error in errors:
        known = error if isinstance(error, FxtrioError) else _import_failure(error)
        if known is None and isinstance(error, OSError):
            known = FileAccessFailed.of(error)
        if known is None:
            return []
        explained.append(known)
    return explained


def _import_failure(error: BaseException) -> FxtrioError | None:
    """Return what to print if an import of the project has raised ``error``."""
    imports = sys.modules.get("fxtrio.imports")
    passed = [frame.f_code.co_filename for frame, _line in walk_tb(error.__traceback__)]
    if imports is None or imports.__file__ not in passed:
        return None
    # Heavy, and commands that succeed need none of it.
    from fxtrio.cli.import_check.import_failure import import_failed

    return import_failed(error)


def _explain(errors: Sequence[BaseException]) -> None:
    """Print errors, and the command that prints what the documentation says about their classes."""
    print_errors(errors)
    topics = dict.fromkeys(f"'fx docs {type(error).__name__}'" for error in errors)
    click.secho(f"See {' and '.join(topics)}.", err=True, dim=True)


def plugin_commands(root: Path) -> dict[str, click.Command]:
    """Return the commands of the plugins of the project in ``root``, by name.

    Raises ConfigInvalid and PluginFailed.
    """
    if not (root / SETTINGS_FILE).is_file():
        return {}
    from fxtrio.config import load_config, load_env_files

    load_env_files(root)
    config = load_config(root)
    if not config.plugins:
        return {}
    from fxtrio.import_path import put_on_path
    from fxtrio.imports import resolve
    from fxtrio.plugins import load_plugins

    put_on_path(root)
    plugins = load_plugins(config, root=root, resolve=resolve)
    commands = (command for plugin in plugins for command in plugin.commands())
    return {command.name or "": command for command in commands}


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "-V", "--version", package_name="fxtrio", prog_name="fx")
def main() -> None:
    """Build and serve pages of Python and React.

    Start with 'fx init shop', then 'cd shop' and 'fx dev'.
    """
