"""Actions of modules: functions of the project's `actions` folder that any component calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from fxtrio.config import Config
from fxtrio.manifest import ActionModule
from fxtrio.routes import MatchedRoute
from fxtrio.routes.action_files import PREFIX
from fxtrio.serve.pages.functions.server_functions import ActionCode, action_code


class SharedAction(msgspec.Struct, frozen=True, eq=False):
    """An action of a module."""

    action: ActionCode
    matched: MatchedRoute
    """The matched route for hooks."""


def shared_actions(
    modules: Iterable[ActionModule], spaces: Mapping[str, Mapping[str, Any]], config: Config
) -> dict[str, SharedAction]:
    """Return the actions of ``modules`` by their qualified names.

    ``spaces`` are the namespaces of the imported modules, by source. Raises PageCodeInvalid.
    """
    found = {}
    for module in modules:
        for function in module.actions:
            name = f"{module.name}.{function}"
            action = action_code(
                module.source,
                spaces[module.source][function],
                name,
                config.timeouts.action,
                config.limits.all_bodies,
            )
            matched = MatchedRoute(
                kind="action", pattern=PREFIX + name, source=module.source, action=name
            )
            found[name] = SharedAction(action, matched)
    return found
