"""Files of the pages folder → URL patterns, and URL paths → routes.

`scan` makes the page tree of the files when an app is built; `Router` matches paths when it is
served. Both read patterns such as ``/blog/[id]`` in the same way.
Begin with `scan`.
"""

from fxtrio.routes.matched import GUARDS, MatchedRoute, RouteKind, route_of
from fxtrio.routes.pattern import Kind, Segment, parse_pattern, specificity
from fxtrio.routes.router import Router, folder_router
from fxtrio.routes.scan import build_tree, scan
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
    "build_tree",
    "folder_router",
    "parse_pattern",
    "route_of",
    "scan",
    "specificity",
]
