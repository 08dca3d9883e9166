"""Problems beside the pages of a project, found without importing its code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import trio

from fxtrio.compile.check.module_code import module_problems
from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.check.project_checks import surrounding_problems
from fxtrio.compile.check.unreachable_boundaries import unreached_not_found
from fxtrio.compile.plurals import counted
from fxtrio.compile.problems import Problem, config_problems, placed
from fxtrio.compile.project import CheckedProject
from fxtrio.config import Config, locate
from fxtrio.config.brokers import broker_kind
from fxtrio.config.errors import ConfigProblem
from fxtrio.db import open_database
from fxtrio.db.migrations.files import (
    ENGINES,
    FOLDER,
    MigrationProblem,
    MigrationsInvalid,
    read_migrations,
)
from fxtrio.db.migrations.runner import compare_database
from fxtrio.db.open import sqlite_path, without_password
from fxtrio.routes.tree import ApiFile
from fxtrio.tools.project_checks.outer_middleware import outer_middleware


async def beside_problems(
    root: Path, config: Config, project: CheckedProject, *, connects: bool
) -> list[Problem]:
    """Return problems of packages, migrations, open endpoints, extras, boundaries, middleware
    around the app, and of the modules that pages use, `placed`.

    With ``connects`` the database is queried for the migrations that it has run.
    """
    around = await trio.to_thread.run_sync(surrounding_problems, root, config)
    modules = await trio.to_thread.run_sync(module_problems, root, config, project)
    migrations = await migration_problems(root, config, connects=connects)
    open_ones = locate(unguarded_problems(config, project.tree.api), root)
    missing = locate(missing_extras(config), root)
    is_stored = any(page.module.static for page in project.pages)
    outer = outer_middleware(root, of="static pages") if is_stored else []
    return [
        *placed([*around, *unreached_not_found(project), *modules, *migrations, *outer], root),
        *config_problems(open_ones, FindingKind.UNGUARDED),
        *config_problems(missing, FindingKind.EXTRAS),
    ]


def unguarded_problems(config: Config, endpoints: Sequence[ApiFile]) -> Iterator[ConfigProblem]:
    """Yield endpoints that are open while pages are guarded, unless the settings allow it.

    The hooks of pages guard their actions and WebSockets as well (`fxtrio.routes.GUARDS`), so
    only the files of `api` folders can be forgotten.
    """
    hooks = config.route_middleware
    if not endpoints or not hooks.pages or hooks.apis or hooks.open_apis:
        return
    first = endpoints[0].source
    named_endpoints = (
        first if len(endpoints) == 1 else f"{counted(len(endpoints), 'endpoint')} ({first}, …)"
    )
    cause = (
        f"guards pages, and {named_endpoints} can be called by anybody. Name hooks in "
        "'routeMiddleware.apis' as well, or set 'routeMiddleware.openApis' to true"
    )
    yield ConfigProblem(place="", key="routeMiddleware.pages", cause=cause)


def missing_extras(config: Config) -> Iterator[ConfigProblem]:
    """Yield the settings that need what `pip install 'fxtrio[…]'` brings."""
    broker, counts = config.realtime.broker, config.rate_limit_storage
    for key, url in (("realtime.broker", broker), ("rateLimitStorage", counts)):
        kind = broker_kind(url)
        if kind is not None:
            yield from _missing(key, without_password(url), kind.package, kind.name)
    url = config.database.url
    if url.startswith("postgres"):
        yield from _missing("database.url", without_password(url), "psycopg", "postgres")
    if config.observability.metrics:
        value = config.observability.metrics
        yield from _missing("observability.metrics", value, "prometheus_client", "metrics")
    if config.observability.tracing == "otel":
        found = find_spec("opentelemetry") and find_spec("opentelemetry.sdk")
        package = "opentelemetry" if found else "opentelemetry-sdk"
        yield from _missing("observability.tracing", "otel", package, "otel")
    if config.llms.enabled and config.llms.auto_convert:
        yield from _missing("llms.autoConvert", "true", "html_to_markdown", "llms")
    for index, plugin in enumerate(config.plugins):
        if plugin.name in _OF_PLUGINS:
            package = _OF_PLUGINS[plugin.name]
            yield from _missing(f"plugins.{index}.name", plugin.name, package, plugin.name)


_OF_PLUGINS = {"auth": "argon2", "mcp": "mcp"}
"""What plugins of the framework import; the extra has the plugin's name."""

_DISTRIBUTIONS = {"argon2": "argon2-cffi"}


def _missing(key: str, value: str, package: str, extra: str) -> Iterator[ConfigProblem]:
    if find_spec(package) is None:
        named = _DISTRIBUTIONS.get(package, package.replace("_", "-"))
        remedy = f"Run \"pip install 'fxtrio[{extra}]'\""
        cause = f"is {value!r}, and {named} is not installed. {remedy}"
        yield ConfigProblem(place="", key=key, cause=cause)


CONNECT_TIMEOUT = 3.0
"""How long a database has for its answer (seconds)."""


async def migration_problems(root: Path, config: Config, *, connects: bool) -> list[Problem]:
    """Return mistakes of the files, and files that have changed since they were run.

    A database that does not exist, or does not answer, is not queried, and none is without
    ``connects``: the settings of a project may name anybody's.
    """
    url = config.database.url
    if not url:
        return []
    engine = next(engine for engine in ENGINES if url.startswith(engine[:8]))
    try:
        await trio.to_thread.run_sync(read_migrations, root, engine)
        found = await _compare(root, config) if connects else ()
    except MigrationsInvalid as error:
        found = error.problems
    return [
        Problem(
            f"{FOLDER}/{problem.file}",
            1,
            1,
            problem.cause,
            problem.remedy,
            kind=FindingKind.MIGRATIONS,
        )
        for problem in found
    ]


async def _compare(root: Path, config: Config) -> tuple[MigrationProblem, ...]:
    url = config.database.url
    if url.startswith("sqlite"):
        path = sqlite_path(url, root)
        if path is None or not path.exists():
            return ()
    try:
        with trio.fail_after(CONNECT_TIMEOUT):
            async with open_database(config.database, root) as database:
                return (await compare_database(database, root)).problems
    except MigrationsInvalid:
        raise
    except Exception:  # no server, no right to read: nothing that the project could correct
        return ()
