"""`fx config`: the settings an app would run with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.text import Text

from fxtrio.cli.output import console, json_option, root_option
from fxtrio.config import Config, load_config, load_env_files
from fxtrio.config.validators import camel
from fxtrio.db.open import without_password


@click.command
@root_option
@json_option
def command(root: Path, as_json: bool) -> None:
    """Print the settings that the app would run with.

    They come from the defaults, fx.config.json and FX_… variables. It marks settings that
    differ from the defaults, and never shows secret keys.
    """
    load_env_files(root)
    values = settings(load_config(root))
    if as_json:
        click.echo(json.dumps(values, indent=2))
        return
    defaults = dict(_flat(settings(Config())))
    for key, value in _flat(values):
        changed = value != defaults.get(key)
        mark = Text("* " if changed else "  ", style="bold yellow")
        text = Text(json.dumps(value), style="yellow" if changed else "")
        console().print(mark, Text(f"{key:<40}"), text, sep="", soft_wrap=True)


def settings(config: Config) -> dict[str, Any]:
    """Return the settings with the keys of ``fx.config.json``, without the secret keys."""
    values: dict[str, Any] = msgspec.to_builtins(config)
    del values["secret_keys"]
    values["database"]["url"] = without_password(config.database.url)
    return {
        camel(name): {camel(inner): setting for inner, setting in value.items()}
        if isinstance(value, dict)
        else value
        for name, value in values.items()
    }


def _flat(values: dict[str, Any]) -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, dict):
            flat += [(f"{name}.{inner}", setting) for inner, setting in value.items()]
        else:
            flat.append((name, value))
    return flat
