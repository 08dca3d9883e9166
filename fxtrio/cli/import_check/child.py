"""The task of the process that imports a project for `fx check`: see `project_process`."""

from __future__ import annotations

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
from fxtrio.cli.import_check.named_routes import unknown_routes
from fxtrio.cli.import_check.page_imports import try_files
from fxtrio.cli.import_check.plugin_settings import try_settings
from fxtrio.compile.problems import Problem
from fxtrio.config import read_config
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
    write(findings_line(Findings((*problems, *attempts.problems()), tuple(settings))))


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
