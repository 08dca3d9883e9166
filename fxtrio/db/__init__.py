"""The application's database: one small API over SQLite and PostgreSQL.

`open_database` opens what the settings name, for as long as the app runs; `db` stands for
that of the app whose code is running. Re-exported as `fx.db`.
Begin with `database`; `engine` is what a kind of database has to offer.

Importing this costs nothing: an app without a database loads no driver.
"""

from typing import TYPE_CHECKING

from fxtrio.db.errors import (
    ArgumentRefused,
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
    "ArgumentRefused",
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
        """Import what ``name`` stands for."""
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
