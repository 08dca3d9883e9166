"""Loaders, actions and their errors, for page files."""

from fxtrio.routes.matched import MatchedRoute, route_of
from fxtrio.runtime import (
    ActionError,
    Deferred,
    LoaderError,
    NotFound,
    Upload,
    UploadFile,
    ValidationActionError,
    action,
    defer,
    invalidate_routes,
    redirect,
    server,
    stream,
)

__all__ = [
    "ActionError",
    "Deferred",
    "LoaderError",
    "MatchedRoute",
    "NotFound",
    "Upload",
    "UploadFile",
    "ValidationActionError",
    "action",
    "defer",
    "invalidate_routes",
    "redirect",
    "route_of",
    "server",
    "stream",
]
