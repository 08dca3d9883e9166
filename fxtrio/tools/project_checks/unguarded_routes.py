"""Routes that no hook guards, in an app that guards others. Pure; called by `fx check`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fxtrio.compile.plurals import counted
from fxtrio.config import Config
from fxtrio.config.errors import ConfigProblem
from fxtrio.routes import ApiFile


def unguarded_problems(config: Config, endpoints: Sequence[ApiFile]) -> Iterator[ConfigProblem]:
    """Yield what is open although pages are guarded, unless the settings say that it shall be.

    The hooks of pages guard their actions and WebSockets as well (`fxtrio.routes.GUARDS`), so
    only the files of `api` folders can be forgotten.
    """
    hooks = config.route_middleware
    if not endpoints or not hooks.pages or hooks.apis or hooks.open_apis:
        return
    first = endpoints[0].source
    shown = first if len(endpoints) == 1 else f"{counted(len(endpoints), 'endpoint')} ({first}, …)"
    cause = (
        f"guards pages, and {shown} can be called by anybody. Name hooks in "
        "'routeMiddleware.apis' as well, or set 'routeMiddleware.openApis' to true"
    )
    yield ConfigProblem(place="", key="routeMiddleware.pages", cause=cause)
