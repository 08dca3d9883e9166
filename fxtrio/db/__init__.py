"""The application's database: one small API over SQLite and PostgreSQL.

`open_database` opens what the settings name, for as long as the app runs; `db` stands for
that of the app whose code is running. Re-exported as `fx.db`.
Begin with `database`; `engine` is what a kind of database has to offer.
"""

from fxtrio.db.current import db, get_database
from fxtrio.db.database import Database
from fxtrio.db.faults import (
    ArgumentRefused,
    CommitUnknown,
    CopyOpen,
    CopyUnsupported,
    DatabaseBusy,
    DatabaseError,
    DatabaseNotConfigured,
    DatabaseUnusable,
    RowMismatch,
    TransactionAborted,
)
from fxtrio.db.urls import open_database

__all__ = [
    "ArgumentRefused",
    "CommitUnknown",
    "CopyOpen",
    "CopyUnsupported",
    "Database",
    "DatabaseBusy",
    "DatabaseError",
    "DatabaseNotConfigured",
    "DatabaseUnusable",
    "RowMismatch",
    "TransactionAborted",
    "db",
    "get_database",
    "open_database",
]
