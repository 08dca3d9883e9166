"""Plugins: parts of an app that live as long as it does.

`Plugin` is the base class, `load_plugins` creates the plugins that ``fx.config.json``
names in ``plugins``, and `open_plugins` runs them. Called by `fxtrio.app` and, for their
commands, by `fxtrio.cli`.
Begin with `protocol`.
"""

from fxtrio.plugins.load import load_plugins
from fxtrio.plugins.open import open_plugins
from fxtrio.plugins.protocol import (
    NoSettings,
    Plugin,
    Resolver,
    csrf_binding_of,
    plugin_routes,
    wrap_in_middleware,
)

__all__ = [
    "NoSettings",
    "Plugin",
    "Resolver",
    "csrf_binding_of",
    "load_plugins",
    "open_plugins",
    "plugin_routes",
    "wrap_in_middleware",
]
