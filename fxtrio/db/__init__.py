"""The application's database: one small API over SQLite and PostgreSQL.

`open_database` opens the configured database while the app runs; `db` is a proxy for the
database of the running app. Re-exported as `fx.db`.
Begin with `database`; `engine` is the interface of a database engine.

Importing this module loads no driver: an app without a database pays nothing.
"""

from typing import TYPE_CHECKING

from fxtrio.db.errors import (
    ArgumentInvalid,
    CommitUnknown,
    CopyOpen,
    CopyUnsupported,
    DatabaseBusy,
    DatabaseError,
    DatabaseNotConfigured,
    DatabaseUnavailable,
    DatabaseUnusable,
    IsolationTooLate,
    RowMismatch,
    TransactionAborted,
    TransactionConflict,
)

if TYPE_CHECKING:
    from fxtrio.db.database import Database as Database
    from fxtrio.db.open import open_database as open_database
    from fxtrio.db.proxy import db as db
    from fxtrio.db.proxy import get_database as get_database

__all__ = [
    "ArgumentInvalid",
    "CommitUnknown",
    "CopyOpen",
    "CopyUnsupported",
    "Database",
    "DatabaseBusy",
    "DatabaseError",
    "DatabaseNotConfigured",
    "DatabaseUnavailable",
    "DatabaseUnusable",
    "IsolationTooLate",
    "RowMismatch",
    "TransactionAborted",
    "TransactionConflict",
    "db",
    "get_database",
    "open_database",
]

if not TYPE_CHECKING:  # for which every name would exist then

    def __getattr__(name: str) -> object:
        """Import ``name`` from its module."""
        if name == "Database":
            from fxtrio.db.database import Database as found
        elif name == "open_database":
            from fxtrio.db.open import open_database as found
        elif name == "db":
            from fxtrio.db.proxy import db as found
        elif name == "get_database":
            from fxtrio.db.proxy import get_database as found
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return found
