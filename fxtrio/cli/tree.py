"""`fx tree`: what runs in a process, under whom, and where it waits."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from typing import Any

import click

from fxtrio.cli.output import json_option
from fxtrio.errors import PlacedError

_PERIOD = 1.0  # between two looks, in seconds
_PATIENCE = 10.0  # for an answer, in seconds
_MOST = 64 * 1024 * 1024  # bytes of an answer


class TreeUnavailable(PlacedError):
    """A URL does not answer with a tree."""

    remedy = (
        "Pass the URL of the observe plugin, and the header that its guard checks with --header"
    )


@click.command
@click.option("--pid", type=click.IntRange(min=1), help="The process on this machine.")
@click.option("--url", help="The URL at which the observe plugin serves the tree.")
@click.option("--header", "headers", multiple=True, help="A header of the request for --url.")
@click.option("--watch", is_flag=True, help="Show it again each second, until Ctrl-C.")
@json_option
def command(
    pid: int | None, url: str | None, headers: tuple[str, ...], watch: bool, as_json: bool
) -> None:
    """Show the tasks of a running app, and where each waits.

    It also shows the owner and the age of each task. The process responds even while its event
    loop is blocked.
    """
    if (pid is None) == (url is None):
        raise click.UsageError("Name a process by --pid or a server by --url.")
    if headers and url is None:
        raise click.UsageError("--header is for --url.")
    from fxtrio.observe.text import text_of

    fields = dict(_field(header) for header in headers)
    while True:
        tree = _ask_url(url, fields) if url is not None else _ask(pid or 0)
        if watch and not as_json:
            click.clear()
        click.echo(json.dumps(tree) if as_json else text_of(tree), nl=as_json)
        if not watch:
            return
        time.sleep(_PERIOD)


def _field(header: str) -> tuple[str, str]:
    name, colon, value = header.partition(":")
    if not colon or not name.strip():
        raise click.UsageError(f"--header {name!r} has no colon. Write 'Name: value'.")
    return name.strip(), value.strip()


def _ask(pid: int) -> dict[str, Any]:
    from fxtrio.observe.observer import ask_process

    tree: dict[str, Any] = json.loads(ask_process(pid))
    return tree


def _ask_url(url: str, headers: dict[str, str]) -> dict[str, Any]:
    if not url.startswith(("http://", "https://")):
        raise click.UsageError(f"--url {url!r} is not a URL of HTTP.")
    request = urllib.request.Request(url, headers={"accept": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            tree = json.loads(answer.read(_MOST))
    except urllib.error.HTTPError as error:
        raise TreeUnavailable(url, f"answered {error.code}") from None
    except (OSError, ValueError) as error:
        raise TreeUnavailable(url, f"has no tree: {error}") from None
    if not isinstance(tree, dict) or "root" not in tree:
        raise TreeUnavailable(url, "has no tree")
    return tree
