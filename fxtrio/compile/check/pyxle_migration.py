"""What stands here for a name of Pyxle, whose page files look much the same. Pure.

The table for people is in ``docs/guides/from-pyxle.md``; a test compares the two.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxtrio.compile.split.python_statements import nodes_of

_PACKAGES = frozenset({"pyxle", "pyxle_auth", "pyxle_db", "pyxle_mail"})

_RUNTIME = "server action ActionError ValidationActionError LoaderError invalidate_routes"
_TASKS = "enqueue TaskQueue TaskQueueError TaskQueueNotRunning TaskQueueFull"
_REALTIME = "channel authenticate_websocket origin_allowed Broker Message"
_CACHE = "Set 'cache' in fx.config.json"
_CHECKED = "Leave it out: 'fx check' reports such bodies"
_MIDDLEWARE = "Name a Starlette middleware, or set it, in fx.config.json"
_PLUGIN = "Write an async context manager 'open(app)' in an fxtrio.plugins.Plugin"
_SIGNED = "Use the package itsdangerous"
_GUARD = "from fxtrio.plugins.auth import require_user"

NAMES: dict[str, str] = {
    **{name: f"from fx.runtime import {name}" for name in _RUNTIME.split()},
    **{name: f"from fx.tasks import {name}" for name in _TASKS.split()},
    **{name: f"from fx.realtime import {name}" for name in _REALTIME.split()},
    "ChannelHandle": "from fx.realtime import Channel",
    "InProcessBroker": "from fx.realtime import MemoryBroker",
    "broker_for": "request.app.state.fx_broker",
    "build_broker": "Set 'realtime.broker' in fx.config.json",
    "ActionCookies": "request.state.response.set_cookie(…)",
    "invalidate": "from fx.cache import revalidate",
    "invalidate_all": "from fx.cache import revalidate",
    "get_active_cache": "from fx.cache import revalidate",
    "get_request_id": "request.state.request_id",
    "request_timing_ms": "Read the access log: 'fx serve --access-log json'",
    "RequestIdMiddleware": "Leave it out: every request has an id",
    "plugin": "request.app.state.fx.plugins[…]",
    "active_context": "request.app.state.fx.plugins",
    "PyxlePlugin": "from fxtrio.plugins import Plugin",
    "load_page": "from fx.testing import open_app",
    "load_loader": "from fx.testing import open_app",
    "get_public_env_vars": "Write 'import.meta.env.FX_PUBLIC_…' in the client half",
    "sign_cookie": _SIGNED,
    "verify_cookie": _SIGNED,
    "PluginContext": _PLUGIN,
    "PluginSpec": _PLUGIN,
    "RateLimitMiddleware": _MIDDLEWARE,
    "StreamingGZipMiddleware": _MIDDLEWARE,
    "ActionBodyError": _CHECKED,
    "PydanticNotInstalledError": _CHECKED,
    "UnannotatedActionBodyError": _CHECKED,
    "CacheBackend": _CACHE,
    "CacheEntry": _CACHE,
    "FileCacheBackend": _CACHE,
    "InMemoryCacheBackend": _CACHE,
    "PageCache": _CACHE,
    "RedisCacheBackend": _CACHE,
}
"""Name to its equivalent here: code, or a sentence that begins with a capital."""

_SAME = frozenset(
    {*_RUNTIME.split(), *_TASKS.split(), *_REALTIME.split(), "ChannelHandle", "InProcessBroker"}
)
"""Names whose equivalent here is the same thing under another name."""

_MODULES = {
    "pyxle": "import fx",
    "pyxle.runtime": "from fx.runtime import …",
    "pyxle.tasks": "from fx.tasks import …",
    "pyxle.realtime": "from fx.realtime import …",
    "pyxle.cache": "from fx.cache import revalidate",
    "pyxle.plugins": "from fxtrio.plugins import Plugin",
    "pyxle.testing": "from fx.testing import open_app",
    "pyxle.middleware": _MIDDLEWARE,
    "pyxle.security": _SIGNED,
    "pyxle_auth": "from fxtrio.plugins.auth import …",
    "pyxle_db": "Set 'database.url', and write 'from fx.db import db': db.all, db.one, db.execute",
    "pyxle_mail": "Send it with smtplib in a durable job",
}

_OF_PACKAGES: dict[str, dict[str, str]] = {
    "pyxle_auth": {
        "current_user": "request.state.user",
        "get_auth_service": "from fxtrio.plugins.auth import get_auth",
        "login_required": _GUARD,
        "login_required_action": _GUARD,
        "require_user_action": _GUARD,
        "require_user_page": _GUARD,
        "User": "from fxtrio.plugins.auth import User",
    },
    "pyxle_db": {
        "DatabaseError": "from fx.db import DatabaseError",
        "get_database": "from fx.db import get_database",
        "IntegrityError": "Catch the driver's own: that of sqlite3 or psycopg",
        "Migrator": "Run 'fx db up', or set 'database.migrate'",
        "Row": "Give the class of the rows to db.all and db.one",
        "connect": "Set 'database.url': the app opens its database",
    },
}
"""Names of the packages beside Pyxle; others are as their modules."""

_UNKNOWN = "See docs/guides/from-pyxle.md"


def remedy_for(name: str) -> str:
    """Return what to do about a name of Pyxle, without a full stop; "" for any other."""
    return _remedy(NAMES[name]) if name in NAMES else ""


def module_remedy(module: str) -> str:
    """Return what to do about an import of a module of Pyxle, without a full stop."""
    of_package = "" if module.startswith("pyxle.") else module.partition(".")[0]
    return _remedy(_MODULES.get(module) or _MODULES.get(of_package) or _UNKNOWN)


def same_as(module: str, name: str) -> tuple[str, str] | None:
    """Return the module and the name of its equivalent here; None when there is none."""
    if module == "pyxle_db" and name in ("get_database", "DatabaseError"):
        return "fx.db", name
    if module.partition(".")[0] == "pyxle" and name in _SAME:
        _, home, _, here = NAMES[name].split()
        return home, here
    return None


def is_foreign(module: str) -> bool:
    """Whether ``module`` is one of Pyxle's."""
    return module.partition(".")[0] in _PACKAGES


def imports_of(module: ast.Module) -> Iterator[tuple[ast.alias, str, str]]:
    """Yield each import from Pyxle: where, its module, and what to do about it."""
    for node in nodes_of(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if is_foreign(alias.name):
                    yield alias, alias.name, module_remedy(alias.name)
        elif isinstance(node, ast.ImportFrom) and is_foreign(node.module or ""):
            for alias in node.names:
                yield alias, str(node.module), _remedy(_imported(str(node.module), alias.name))


def _imported(module: str, name: str) -> str:
    """Return what stands for a name of a module of Pyxle."""
    package = module.partition(".")[0]
    if package != "pyxle":
        return _OF_PACKAGES.get(package, {}).get(name) or _MODULES[package]
    return _MODULES.get(f"{module}.{name}") or NAMES.get(name) or _UNKNOWN


def _remedy(remedy: str) -> str:
    return remedy if remedy[0].isupper() else f"Write {remedy!r}"
