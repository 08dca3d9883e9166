"""Loaders, actions and their errors, for page files."""

from fxtrio.runtime import (
    ActionError,
    LoaderError,
    ValidationActionError,
    action,
    invalidate_routes,
    redirect,
    server,
)

__all__ = [
    "ActionError",
    "LoaderError",
    "ValidationActionError",
    "action",
    "invalidate_routes",
    "redirect",
    "server",
]
