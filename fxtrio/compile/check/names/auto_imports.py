"""Which names of `fx.runtime` a page file sees without an import.

The runtime puts them into the module's globals before its code runs, so a name
the file defines or imports itself takes their place.
"""

from __future__ import annotations

from fxtrio.compile.check.declarations import Facts

WITH_LOADER = ("server", "LoaderError")
WITH_ACTION = ("action", "ActionError", "ValidationActionError", "invalidate_routes")


WITH_STREAM = ("stream",)


def injected_names(facts: Facts) -> tuple[str, ...]:
    """Return the names for a file with these facts."""
    of_loader = WITH_LOADER if facts.loader is not None else ()
    of_action = WITH_ACTION if facts.actions else ()
    of_stream = WITH_STREAM if facts.streams else ()
    return (*of_loader, *of_action, *of_stream)
