"""Which operations the auth plugin keeps for those who are signed in."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from fxtrio.config import Config
from fxtrio.routes import MatchedRoute
from fxtrio.tools.openapi.operations import Operation

Resolver = Callable[[str], object]
"""Returns what a dotted name of the settings stands for."""

_BUILT_IN = "auth"


@attrs.frozen
class Guard:
    """`require_user` where the settings name it."""

    cookie: str
    """The name of the session's cookie over plain HTTP."""

    actions: bool
    """Whether it stands before actions."""

    apis: bool
    """Whether it stands before endpoints."""

    _is_open: Callable[[MatchedRoute], bool]

    def closes(self, operation: Operation) -> bool:
        """Whether only those who are signed in may call it."""
        if not (self.apis if operation.kind == "api" else self.actions):
            return False
        return not self._is_open(operation.route)


def guard_of(config: Config, resolve: Resolver) -> Guard | None:
    """Return the guard of a project; None without the auth plugin."""
    entry = next((plugin for plugin in config.plugins if plugin.name == _BUILT_IN), None)
    if entry is None:
        return None
    # Heavy, and most projects have no accounts.
    from fxtrio.plugins.auth import require_user
    from fxtrio.plugins.auth.sessions.guards import is_open
    from fxtrio.plugins.auth.settings import AuthSettings
    from fxtrio.plugins.settings import read_settings

    settings = read_settings(AuthSettings, entry.settings)

    def stands(names: tuple[str, ...]) -> bool:
        return any(resolve(name) is require_user for name in names)

    hooks = config.route_middleware
    return Guard(
        settings.cookie_name,
        actions=stands(hooks.pages) or stands(hooks.actions),
        apis=stands(hooks.apis),
        is_open=lambda route: is_open(route, settings),
    )
