"""docs/reference/cli.md lists every command with every option."""

from __future__ import annotations

import re

import click
import pytest

from fxtrio.cli.group import COMMANDS, main
from tests.docs.pages import DOCS

PAGE = (DOCS / "reference/cli.md").read_text(encoding="utf-8")


def section(command: str) -> str:
    found = re.search(rf"^## `fx {command}[` ].*?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, f"fx {command} is not documented"
    return found[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented_with_its_options(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    commands = [command, *getattr(command, "commands", {}).values()]
    options = {
        option
        for part in commands
        for parameter in part.params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
        if option.startswith("--")
    }

    assert set(re.findall(r"`(--[a-z0-9-]+)", section(name))) == options


def test_no_other_commands_are_documented() -> None:
    assert set(re.findall(r"^## `fx ([a-z-]+)", PAGE, re.MULTILINE)) == set(COMMANDS)
