"""Loaders, actions and their errors, for page files."""

from fxtrio.routes.matched import MatchedRoute, route_of
from fxtrio.runtime import (
    ActionError,
    LoaderError,
    NotFound,
    Upload,
    UploadFile,
    ValidationActionError,
    action,
    invalidate_routes,
    redirect,
    server,
)

__all__ = [
    "ActionError",
    "LoaderError",
    "MatchedRoute",
    "NotFound",
    "Upload",
    "UploadFile",
    "ValidationActionError",
    "action",
    "invalidate_routes",
    "redirect",
    "route_of",
    "server",
]
