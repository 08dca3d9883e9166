"""The application's database, and its errors."""

from fxtrio.db import (
    ArgumentInvalid,
    CommitUnknown,
    CopyOpen,
    CopyUnsupported,
    Database,
    DatabaseBusy,
    DatabaseError,
    DatabaseNotConfigured,
    DatabaseUnavailable,
    DatabaseUnusable,
    IsolationTooLate,
    RowMismatch,
    TransactionAborted,
    TransactionConflict,
    db,
    get_database,
)

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
]
