"""`fx routes`: what answers which URL, in the order in which it is tried."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import click
from msgspec.structs import replace
from rich.table import Table
from starlette.routing import Route

from fxtrio.cli.output import console, json_option, print_errors, print_warning, root_option
from fxtrio.compile.file_checks import check_actions, listed_facts
from fxtrio.compile.problems import CompileFailed, placed
from fxtrio.compile.project import tree_problems
from fxtrio.compile.publish.page_weights import weigh_pages
from fxtrio.config import Config, load_config, load_env_files
from fxtrio.errors import DottedNameUnknown
from fxtrio.manifest import FOLDERS, load_manifest
from fxtrio.routes.scan import scan
from fxtrio.routes.tree import PageTree


@click.command
@root_option
@click.option(
    "--scripts",
    is_flag=True,
    help="Print which pages of the build load scripts, how many bytes, and why.",
)
@json_option
def command(root: Path, scripts: bool, as_json: bool) -> None:
    """List the routes of the pages folder, and those of plugins.

    It builds nothing. The app uses the first route that matches: routes of plugins come first,
    then the most specific ones.
    """
    load_env_files(root)
    config = load_config(root)
    if scripts:
        _print_scripts(root, as_json)
        return
    tree = scan(root, config)
    plugins, unlisted = _plugins(root, config)
    rows = [*plugins, *_rows(root, tree, config)]
    rows += _actions(root, config.base_url) + _streams(root, tree, config)
    problems = placed(tree_problems(tree, config), root)
    if as_json:
        texts = [str(problem) for problem in problems]
        found = {"routes": rows, "problems": texts, "unlistedPlugins": unlisted}
        click.echo(json.dumps(found, indent=2))
    else:
        if rows:
            console().print(_table(rows))
        for name in unlisted:
            reason = "its routes are not listed, as this command runs no code of a project."
            print_warning(f"plugin {name}: {reason}", console(stderr=True))
    print_errors([] if as_json or not problems else [CompileFailed(problems)])
    raise SystemExit(1 if problems else 0)


def _print_scripts(root: Path, as_json: bool) -> None:
    build = root / FOLDERS["production"]
    weights = weigh_pages(build, load_manifest(build))
    if as_json:
        click.echo(json.dumps({"pages": [attrs.asdict(one) for one in weights]}, indent=2))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Page", no_wrap=True)
    table.add_column("JavaScript", justify="right", no_wrap=True)
    table.add_column("needs scripts for", overflow="fold")
    for one in weights:
        size = f"{one.script.gzip / 1000:.1f} kB gzip" if one.script.raw else "none"
        table.add_row(one.pattern, size, "\n".join(one.reasons))
    console().print(table)


def _plugins(root: Path, config: Config) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the routes of the plugins that come with fxtrio, and the names of other plugins."""
    if not config.plugins:
        return [], []
    # Heavy, and most apps have no plugins.
    from fxtrio.config.plugin_names import BUILT_IN
    from fxtrio.plugins.load import load_plugins

    ours = tuple(plugin for plugin in config.plugins if plugin.name in BUILT_IN)
    ours_alone = replace(config, plugins=ours)
    methods: dict[tuple[str, str], set[str]] = {}
    for plugin in load_plugins(ours_alone, root=root, resolve=_resolve_nothing):
        for route in plugin.routes():
            if isinstance(route, Route):
                answered = methods.setdefault((plugin.name, config.base_url + route.path), set())
                answered |= route.methods or set()
    rows = [
        {"kind": "plugin", "pattern": pattern, "source": name, "methods": sorted(answered)}
        for (name, pattern), answered in methods.items()
    ]
    return rows, [plugin.name for plugin in config.plugins if plugin.name not in BUILT_IN]


def _resolve_nothing(name: str) -> object:
    raise DottedNameUnknown(name, "nothing of the project is imported")


def _rows(root: Path, tree: PageTree, config: Config) -> list[dict[str, Any]]:
    base_url = config.base_url
    pages = [
        {
            "kind": "page",
            "pattern": (base_url + page.pattern).rstrip("/") or "/",
            "source": page.source,
            "static": listed_facts(root, page.source, config.pages_dir).static,
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


def _streams(root: Path, tree: PageTree, config: Config) -> list[dict[str, Any]]:
    """Return the streams of pages."""
    rows = []
    for page in tree.pages:
        path = "/index" if page.pattern == "/" else page.pattern
        for name in listed_facts(root, page.source, config.pages_dir).streams:
            pattern = f"{config.base_url}/api/__streams{path}/{name}"
            rows.append({"kind": "stream", "pattern": pattern, "source": page.source})
    return rows


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("Route", "Kind", "File", "Layouts"):
        table.add_column(name, no_wrap=True)
    for row in rows:
        layouts = ", ".join(source.split("/", 1)[1] for source in row.get("layouts", ()))
        kind = f"static {row['kind']}" if row.get("static") else row["kind"]
        table.add_row(row["pattern"], kind, row["source"], layouts)
    return table
