"""The content of Studio's pages, each a function of the running app. None of them writes."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import attrs
import msgspec
from starlette.types import Scope

from fxtrio.app_handle import App
from fxtrio.asgi_extensions import url_of_root
from fxtrio.errors import display_path
from fxtrio.jobs import JobRunner
from fxtrio.jobs.store import JobStore
from fxtrio.observe.text import text_of
from fxtrio.observe.tree import Loop, take_tree
from fxtrio.plugins.studio import html, tables
from fxtrio.plugins.studio.access import ALLOWS, ask_hooks, find_other, find_route, path_of
from fxtrio.plugins.studio.settings import setting_rows
from fxtrio.plugins.studio.timings import Timings
from fxtrio.plugins.studio.waterfall import requests_html
from fxtrio.policy.patterns import pattern_of
from fxtrio.realtime import Member
from fxtrio.serve.pages.site import Site

_CHANNELS = 200
"""Channels that are listed (count)."""

_MEMBERS = 10
"""Members of a channel whose ids are listed (count)."""


class Application(Protocol):
    """The ASGI app (`fxtrio.application.Application`)."""

    site: Site
    state: Any
    router: Any
    _root: Path


@attrs.frozen
class PageContext:
    """The app that a page describes, and the request for it."""

    application: Application | None
    """None for an app that fxtrio has not made, of which little is known."""

    timings: Timings
    loop: Loop
    development: bool
    scope: Scope
    query: Mapping[str, str]

    @property
    def known(self) -> Application:
        """The application, for pages that need it."""
        assert self.application is not None  # or these pages are not served
        return self.application

    @property
    def app(self) -> App:
        """The running app."""
        app: App = self.known.state.fx
        return app


async def requests(context: PageContext) -> str:
    """Return the last requests and jobs with their parts."""
    return requests_html([timing.as_dict() for timing in context.timings.latest()])


async def tree(context: PageContext) -> str:
    """Return the tasks that run."""
    return html.text(text_of(take_tree(context.loop, os.getpid()).as_dict()))


async def jobs(context: PageContext) -> str:
    """Return what waits and runs in memory, and the durable jobs by queue and state."""
    app = context.app
    content = html.counts("In memory", _counts(app.tasks.statistics()))
    if app.jobs is None:
        return content + html.note("There are no durable jobs.")
    content += html.counts("Durable, in this process", _counts(app.jobs.statistics()))
    content += await _durable_jobs(app, app.jobs)
    plugin = next((one for one in app.config.plugins if one.name == "jobs"), None)
    if plugin is None:
        return content + html.note("The plugin 'jobs' shows them with their errors.")
    path = plugin.settings.get("path", "/_jobs")
    return content + html.link(app.config.base_url + path, "Queues, errors and schedules")


async def _durable_jobs(app: App, runner: JobRunner) -> str:
    """Return what the page of the plugin `jobs` shows, without arguments, errors and buttons."""
    if app.database is None:
        return ""
    # Heavy, and a server in development needs it for this page alone.
    from fxtrio.plugins.jobs.html import summary
    from fxtrio.plugins.jobs.overview import read_overview

    try:
        overview = await read_overview(JobStore(app.database), runner.jobs.values(), runner.now())
    except Exception as error:
        if not app.database.cannot_work(error):
            raise
        return html.note("The database does not respond.")
    failed = [
        (row["id"], row["name"], f"{row['attempts']} / {row['crashes']}")
        for row in overview.failures
    ]
    return summary(overview) + html.table("Failed", ("Job", "Name", "Attempts / crashes"), failed)


async def channels(context: PageContext) -> str:
    """Return the channels of this process with their subscriptions, and the messages so far."""
    broker = context.app.broker
    # A broker of the application's own need not have either.
    statistics = getattr(broker, "statistics", None)
    listed = getattr(broker, "subscriptions", None)
    counts = [] if statistics is None else _counts(statistics())
    content = html.counts("Traffic", counts)
    if listed is None:
        return content
    found = sorted(listed().items(), key=lambda item: -item[1])
    members = getattr(broker, "members", None)
    rows = [
        (name, count, "" if members is None else _members(members(name)))
        for name, count in found[:_CHANNELS]
    ]
    content += html.table("Channels", ("Channel", "Subscriptions", "Members"), rows)
    more = len(found) - _CHANNELS
    return content + (html.note(f"{more} more are not listed.") if more > 0 else "")


def _members(members: Sequence[Member]) -> str:
    """Return the ids of members; what the application says of them is for the others alone."""
    more = len(members) - _MEMBERS
    ids = ", ".join(member.id for member in members[:_MEMBERS])
    return f"{ids} and {more} more" if more > 0 else ids


async def cache(context: PageContext) -> str:
    """Return HTML with the statistics of caches, renders and connections."""
    app = context.app
    content = "".join(
        html.counts(name.capitalize(), _counts(statistics()))
        for name, statistics in app.statistics.items()
    )
    pools = {} if app.database is None else app.database.statistics()
    for name, pool in pools.items():
        content += html.counts(f"Database pool {name}", _counts(pool))
    return content or html.note("Nothing is cached.")


async def routes(context: PageContext) -> str:
    """Return the routes with their hooks, and who may see a URL."""
    site, application = context.known.site, context.known
    url = context.query.get("url", "")
    content = html.ask("url", "Who may see this path?", url, "Check")
    if url:
        root = url_of_root(context.scope)
        content += await _who(context, path_of(url, root=root, base_url=site.base_url))
    before = site.hooks.before
    guards = {"page": before("page", "page"), "api": before("endpoint", "api")}
    named = {kind: ", ".join(hook.name for hook in hooks) for kind, hooks in guards.items()}
    acts = ", ".join(hook.name for hook in site.hooks.actions)
    talks = ", ".join(hook.name for hook in site.hooks.websockets)
    rows = [
        (route.pattern, site.manifest.views[route.view].module, named["page"], acts, talks)
        for route in site.manifest.routes
    ]
    rows += [(route.pattern, route.source, named["api"], "", talks) for route in site.manifest.api]
    heads = ("Path", "File", "Hooks", "Hooks of actions", "Hooks of WebSockets")
    content += html.table("Routes", heads, rows)
    guards |= {"action": site.hooks.actions, "websocket": site.hooks.websockets}
    places = {hook.name: _place(hook.function) for hooks in guards.values() for hook in hooks}
    content += html.table("Hooks", ("Hook", "Place"), places.items())
    others = [
        (pattern_of(one, site.config.base_url), _methods(one), _place(one.endpoint))
        for one in application.router.routes
        if getattr(one, "endpoint", None) is not None
    ]
    return content + html.table("Starlette routes", ("Path", "Methods", "Place"), others)


def _methods(route: Any) -> str:
    return ", ".join(sorted(getattr(route, "methods", None) or ()))


async def _who(context: PageContext, path: str) -> str:
    other = find_other(context.known, path)
    if other is not None:
        return html.note(f"{path} is {other}.")
    found = find_route(context.known.site, path)
    if found is None:
        return html.note(f"{path}: no page or endpoint has this path.")
    said = [one async for one in ask_hooks(context.known, found, path, context.scope)]
    verdict = (
        "Everybody may see it."
        if all(word == ALLOWS for _, word in said)
        else "A visitor who is not signed in may not see it."
    )
    content = html.note(f"{path} matches {found.pattern} ({found.source}). {verdict}")
    return content + html.table("Hooks for this visitor", ("Hook", "Response"), said)


async def settings(context: PageContext) -> str:
    """Return the settings with their sources."""
    rows = setting_rows(context.app.config, context.known._root)
    return html.table("Settings", ("Setting", "Value", "From"), rows)


async def database(context: PageContext) -> str:
    """Return the tables, and the rows of a query; for developers alone."""
    found = context.app.database
    if found is None:
        return html.note("The app has no database.")
    is_postgres = context.app.config.database.url.startswith("postgres")
    sql = context.query.get("sql", "")
    names = await tables.names(found, is_postgres=is_postgres)
    content = html.ask(
        "sql", "SQL query, in a transaction that is rolled back", sql, "Run", long=True
    )
    if sql:
        try:
            rows = await tables.first_rows(found, sql, is_postgres=is_postgres)
        except Exception as error:  # the developer's SQL
            content += html.note(f"{type(error).__name__}: {error}")
        else:
            heads = list(rows[0]) if rows else []
            content += html.table("Rows", heads, [list(row.values()) for row in rows])
    listed = [(name, f'select * from "{name}"') for name in names]
    return content + html.table("Tables", ("Table", "Query"), listed)


Section = Callable[[PageContext], Awaitable[str]]

SECTIONS: Mapping[str, tuple[str, Section]] = {
    "requests": ("Requests", requests),
    "tree": ("Tasks", tree),
    "jobs": ("Jobs", jobs),
    "channels": ("Channels", channels),
    "cache": ("Cache", cache),
    "routes": ("Routes", routes),
    "settings": ("Settings", settings),
    "database": ("Database", database),
}
"""The pages by their names in URLs: their titles, and what makes them."""

DEVELOPMENT = frozenset({"database"})
"""Those that only `fx dev` has."""

OF_ANY_APP = frozenset({"requests", "tree"})
"""Those of an app that fxtrio has not made, too."""


def _counts(statistics: Any) -> list[tuple[str, object]]:
    """Return the numbers of a part."""
    if isinstance(statistics, msgspec.Struct):
        found = msgspec.structs.asdict(statistics)
    elif attrs.has(type(statistics)):
        found = attrs.asdict(statistics)
    else:
        return [("count", statistics)]
    return [(name.replace("_", " "), _cell(value)) for name, value in found.items()]


def _cell(value: object) -> object:
    if isinstance(value, dict):
        return json.dumps(value, default=str)
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else value


def _place(function: Any) -> str:
    """Return the file and line of a function."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return "" if code is None else f"{display_path(Path(code.co_filename))}:{code.co_firstlineno}"
