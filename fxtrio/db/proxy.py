"""`db`: the database of the app whose code is running."""

from __future__ import annotations

from typing import Any, cast

from fxtrio.context import current_app, why_no_app
from fxtrio.db.database import Database
from fxtrio.db.errors import DatabaseNotConfigured


def get_database() -> Database:
    """Return the database of the app that the running code belongs to.

    Raises DatabaseNotConfigured when it has none, and outside of a running app.
    """
    app = current_app()
    database: Database | None = None if app is None else app.database
    if database is None:
        raise DatabaseNotConfigured(None if app is not None else why_no_app())
    return database


class _Current:
    """Passes everything on to `get_database`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # tools inspect these on any object
            raise AttributeError(name)
        return getattr(get_database(), name)

    def __repr__(self) -> str:
        return "<the database of the running app>"


db = cast("Database", _Current())
"""A proxy for the running app's `Database`, in loaders, actions, handlers and jobs."""
