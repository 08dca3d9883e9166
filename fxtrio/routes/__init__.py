"""Files of the pages folder → URL patterns, and URL paths → routes.

`scan` makes the page tree of the files when an app is built; `Router` matches paths when it is
served. Both read patterns such as ``/blog/[id]`` in the same way. Only what serves is imported
here: a server starts sooner without the rest. Begin with `scan`.
"""

from fxtrio.routes.matched import GUARDS, MatchedRoute, RouteKind, route_of
from fxtrio.routes.pattern import Kind, Segment, parse_pattern, specificity
from fxtrio.routes.router import Router, folder_router

__all__ = [
    "GUARDS",
    "Kind",
    "MatchedRoute",
    "RouteKind",
    "Router",
    "Segment",
    "folder_router",
    "parse_pattern",
    "route_of",
    "specificity",
]
