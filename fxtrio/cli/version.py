"""`fx version`: what runs here, for bug reports."""

from __future__ import annotations

import json
import platform
import sys
from importlib.metadata import version

import click

from fxtrio import __version__
from fxtrio.cli.output import console, json_option
from fxtrio.node import NodeMissing, find_node


@click.command
@json_option
def command(as_json: bool) -> None:
    """Print the versions of fxtrio and its main dependencies."""
    versions = {
        "fxtrio": __version__,
        "python": platform.python_version(),
        "trio": version("trio"),
        "starlette": version("starlette"),
        "hypercorn": version("hypercorn"),
        "node": _node_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "executable": sys.executable,
    }
    if as_json:
        click.echo(json.dumps(versions, indent=2))
        return
    for name, value in versions.items():
        console().print(f"{name:<11}{value}", soft_wrap=True)


def _node_version() -> str:
    try:
        node = find_node()
    except NodeMissing as error:
        return f"not usable: {error}"
    return f"{'.'.join(map(str, node.version))} ({node.node})"
