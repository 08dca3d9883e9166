"""What stands here for a name of Pyxle, whose page files look much the same. Pure.

The table for people is in ``docs/guides/from-pyxle.md``; a test compares the two.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_PACKAGES = frozenset({"pyxle", "pyxle_auth", "pyxle_db"})

_RUNTIME = "server action ActionError ValidationActionError LoaderError invalidate_routes"
_TASKS = "enqueue TaskQueue TaskQueueError TaskQueueNotRunning TaskQueueFull"
_REALTIME = "channel authenticate_websocket origin_allowed Broker Message"
_CACHE = "Set 'cache' in fx.config.json"
_CHECKED = "Leave it out: 'fx check' reports such bodies"
_MIDDLEWARE = "Name a Starlette middleware, or set it, in fx.config.json"
_PLUGIN = "Write an async context manager 'open(app)' in an fxtrio.plugins.Plugin"
_SIGNED = "Use the package itsdangerous"

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
    "get_public_env_vars": "import.meta.env.FX_PUBLIC_… in the UI half",
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
"""Name to what is written here: code, or a sentence that begins with a capital."""

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
}
_UNKNOWN = "See docs/guides/from-pyxle.md"


def remedy_for(name: str) -> str:
    """Return what to do about a name of Pyxle, without a full stop; "" for any other."""
    return _remedy(NAMES[name]) if name in NAMES else ""


def module_remedy(module: str) -> str:
    """Return what to do about an import of a module of Pyxle, without a full stop."""
    return _remedy(_MODULES.get(module, _UNKNOWN))


def is_foreign(module: str) -> bool:
    """Whether ``module`` is one of Pyxle's."""
    return module.partition(".")[0] in _PACKAGES


def imports_of(module: ast.Module) -> Iterator[tuple[ast.alias, str, str]]:
    """Yield each import from Pyxle: where, its module, and what to do about it."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if is_foreign(alias.name):
                    yield alias, alias.name, module_remedy(alias.name)
        elif isinstance(node, ast.ImportFrom) and is_foreign(node.module or ""):
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                found = _MODULES.get(name) or NAMES.get(alias.name)
                yield alias, str(node.module), _remedy(found or _UNKNOWN)


def _remedy(told: str) -> str:
    return told if told[0].isupper() else f"Write {told!r}"
