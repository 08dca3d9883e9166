"""The URLs of pages whose pattern has parameters, as their ``paths()`` lists them."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from fxtrio.application import Application
from fxtrio.application_errors import application_error
from fxtrio.export.errors import Finding
from fxtrio.export.plan import Text, expand, placed
from fxtrio.manifest import PageRoute
from fxtrio.routes.router import Router
from fxtrio.tracebacks import trimmed

log = logging.getLogger("fx.export")


async def known_paths(
    app: Application, route: PageRoute, router: Router[PageRoute], text: Text
) -> tuple[list[str], list[Finding]]:
    """Return the decoded paths of a route that has ``paths()``, and their problems."""
    site = app.site
    source = site.manifest.views[route.view].module
    place = placed(source, "paths", text)
    function = site.codes[source].paths
    assert function is not None  # the caller has looked
    try:
        values = await function()
        if isinstance(values, Iterator):  # whose code runs only now
            values = list(values)
    except BaseException as raised:
        error = application_error(raised)
        log.error("%s: paths() failed", place, exc_info=trimmed(error))
        remedy = "Fix the line that the traceback in the log above names"
        return [], [Finding(place, f"paths() failed: {error!r:.200}", remedy)]
    return expand(route, values, place=place, router=router)
