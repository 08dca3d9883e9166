"""The task of the process that imports a project for `fx check`: see `project_process`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from fxtrio.cli.import_check.importer import Attempts
from fxtrio.cli.import_check.messages import (
    Findings,
    Order,
    SettingProblem,
    findings_line,
    step_line,
)
from fxtrio.cli.import_check.page_imports import try_files
from fxtrio.cli.import_check.plugin_settings import try_settings
from fxtrio.compile.problems import Problem
from fxtrio.config import Config, read_config
from fxtrio.policy.patterns import covers, pattern_of
from fxtrio.policy.routes import named_routes
from fxtrio.server.supervise.application.importer import AppNotFound, load_application
from fxtrio.server.supervise.options import ServeOptions
from fxtrio.tools.project_process.child import Write


def answer(order: bytes, write: Write) -> None:
    """Import what an `Order` says; write a line for each import, and the findings."""
    wanted = Order.from_json(order)
    attempts = Attempts(
        root=Path(wanted.root),
        timeout=wanted.timeout,
        tell=lambda source: write(step_line(source)),
    )
    problems, settings = try_project(wanted, attempts)
    # A Markdown page may be in a collection, too, and then has the same problem twice.
    found = dict.fromkeys((*problems, *attempts.problems()))
    write(findings_line(Findings(tuple(found), tuple(settings))))


def try_project(order: Order, attempts: Attempts) -> tuple[list[Problem], list[SettingProblem]]:
    """Import everything; what the imports raise is left with ``attempts``."""
    root = Path(order.root)
    config = read_config(root)[0]
    problems = try_files(order, attempts, largest_body=config.limits.all_bodies)
    settings = try_settings(root, config, attempts)
    loaded: list[Any] = []
    if order.app and all(
        one.missing for one in settings
    ):  # the app would fail for the same reasons
        source = f"{order.app.partition(':')[0].replace('.', '/')}.py"
        options = ServeOptions(app=order.app, app_dir=order.root)
        problems += attempts.run(source, partial(_load_app, options, source, loaded)) or []
    if loaded or not (order.has_app or config.plugins):  # whose routes would not be known
        app = loaded[0] if loaded else None
        settings += unknown_routes(root, config, order.routes, app)
    return problems, settings


def _load_app(options: ServeOptions, source: str, loaded: list[Any]) -> list[Problem]:
    """Import the application into ``loaded``; return why it is not there."""
    try:
        loaded.append(load_application(options))
    except AppNotFound as error:
        remedy = f"Define it in {source}, or name another one with --app"
        cause = str(error).removesuffix(". Name an ASGI application as 'module:name'.")
        return [Problem(source, 0, 0, cause, remedy)]
    return []


def unknown_routes(
    root: Path, config: Config, patterns: Collection[str], app: Any
) -> Iterator[SettingProblem]:
    """Yield the entries that fit none of ``patterns``, no route of ``app`` and no public file."""
    known = {*patterns, *_own_routes(app, config.base_url), *_listings(config)}
    for key, entry in named_routes(config):
        is_file = key.startswith("cacheControl.") and _is_public(root / config.public_dir, entry)
        if is_file or any(covers(entry, pattern) for pattern in known):
            continue
        near = get_close_matches(entry, sorted(known), n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "'fx routes' lists those that exist"
        yield SettingProblem(key, f"names no route of the project: {entry!r}. {hint}")


def _own_routes(app: Any, base_url: str) -> Iterator[str]:
    """Yield the paths of an application's Starlette routes, those of plugins included."""
    for route in getattr(app, "routes", ()):
        if isinstance(getattr(route, "path", None), str):
            yield pattern_of(route, base_url)


def _listings(config: Config) -> Iterator[str]:
    """Yield the paths of what lists routes, where it is served."""
    if config.openapi:
        yield "/openapi.json"
    if config.llms.enabled:
        yield "/llms.txt"


def _is_public(folder: Path, entry: str) -> bool:
    """Whether ``entry`` names a public file, or a folder of them."""
    if entry.endswith("/*"):
        return (folder / entry.removesuffix("/*").lstrip("/")).is_dir()
    return (folder / entry.lstrip("/")).is_file()
