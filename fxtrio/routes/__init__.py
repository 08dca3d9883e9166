"""Files of the pages folder → URL patterns, and URL paths → routes.

`scan` lists and plans the files when an app is built; `Router` matches paths when it is
served. Both read patterns such as ``/blog/[id]`` in the same way.
Begin with `plan`.
"""

from fxtrio.routes.matched import GUARDS, MatchedRoute, RouteKind, route_of
from fxtrio.routes.pattern import Kind, Segment, parse_pattern, specificity
from fxtrio.routes.plan import plan, scan
from fxtrio.routes.router import Router, folder_router
from fxtrio.routes.tree import ApiFile, BoundaryFile, LayoutFile, PageFile, PageTree

__all__ = [
    "GUARDS",
    "ApiFile",
    "BoundaryFile",
    "Kind",
    "LayoutFile",
    "MatchedRoute",
    "PageFile",
    "PageTree",
    "RouteKind",
    "Router",
    "Segment",
    "folder_router",
    "parse_pattern",
    "plan",
    "route_of",
    "scan",
    "specificity",
]
