"""The application's database, and its errors."""

from fxtrio.db import (
    CommitUnknown,
    Database,
    DatabaseBusy,
    DatabaseError,
    DatabaseNotConfigured,
    DatabaseUnusable,
    RowMismatch,
    TransactionAborted,
    db,
    get_database,
)

__all__ = [
    "CommitUnknown",
    "Database",
    "DatabaseBusy",
    "DatabaseError",
    "DatabaseNotConfigured",
    "DatabaseUnusable",
    "RowMismatch",
    "TransactionAborted",
    "db",
    "get_database",
]
