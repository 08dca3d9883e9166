"""`fx routes`: what answers which URL, in the order in which it is tried."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from fxtrio.cli.output import console, json_option, print_errors, root_option
from fxtrio.compile.problems import CompileFailed, placed
from fxtrio.compile.project import check_actions, tree_problems
from fxtrio.config import load_config, load_env_files
from fxtrio.routes import PageTree, scan


@click.command
@root_option
@json_option
def command(root: Path, as_json: bool) -> None:
    """List the routes of the pages folder.

    Nothing is built. The most specific route stands first: the first that matches answers.
    """
    load_env_files(root)
    config = load_config(root)
    tree = scan(root, config)
    rows = [*_rows(tree, config.base_url), *_actions(root, config.base_url)]
    problems = placed(tree_problems(tree, config), root)
    if as_json:
        shown = [str(problem) for problem in problems]
        click.echo(json.dumps({"routes": rows, "problems": shown}, indent=2))
    elif rows:
        console().print(_table(rows))
    print_errors([] if as_json or not problems else [CompileFailed(problems)])
    raise SystemExit(1 if problems else 0)


def _rows(tree: PageTree, base_url: str) -> list[dict[str, Any]]:
    pages = [
        {
            "kind": "page",
            "pattern": (base_url + page.pattern).rstrip("/") or "/",
            "source": page.source,
            "layouts": [layout.source for layout in page.layouts],
            "errors": [boundary.source for boundary in page.errors if boundary.layouts]
            or [boundary.source for boundary in page.errors],
            "loading": page.loading,
        }
        for page in tree.pages
    ]
    apis = [
        {"kind": "api", "pattern": base_url + api.pattern, "source": api.source} for api in tree.api
    ]
    return pages + apis


def _actions(root: Path, base_url: str) -> list[dict[str, Any]]:
    """Return the actions of modules; those of pages are at their pages."""
    return [
        {
            "kind": "action",
            "pattern": f"{base_url}/api/__actions/{module.name}.{action}",
            "source": module.source,
        }
        for module in check_actions(root)[0]
        for action in module.actions
    ]


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("Route", "Kind", "File", "Layouts"):
        table.add_column(name, no_wrap=True)
    for row in rows:
        layouts = ", ".join(source.split("/", 1)[1] for source in row.get("layouts", ()))
        table.add_row(row["pattern"], row["kind"], row["source"], layouts)
    return table
