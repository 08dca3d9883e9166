"""Groups below `fx`: they name the command that was meant, and take ``--root`` in front of it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from functools import update_wrapper
from pathlib import Path
from typing import ClassVar

import click

from fxtrio.cli.output import root_option


class Subcommands(click.Group):
    """The error for a command that there is not names the one that is like it."""

    elsewhere: ClassVar[Mapping[str, str]] = {}
    """What other tools call a command, and how it is called here."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of ``args``."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = difflib.get_close_matches(args[0], self.commands, n=1)
            meant = self.elsewhere.get(args[0]) or (near[0] if near else "")
            listed = f"There are {', '.join(self.commands)}."
            hint = f"Did you mean {meant!r}?" if meant else listed
            raise click.UsageError(f"{error.message} {hint}", ctx) from error


def hand_on_root(function: Callable[[], None]) -> Callable[[Path], None]:
    """Give a group ``--root``, which is that of the command that follows."""

    def take(root: Path) -> None:
        ctx = click.get_current_context()
        assert isinstance(ctx.command, click.Group)
        ctx.default_map = {name: {"root": str(root)} for name in ctx.command.commands}

    return root_option(update_wrapper(take, function))
