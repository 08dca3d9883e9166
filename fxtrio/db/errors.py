"""Errors of the database. The engine's own errors about a statement (``sqlite3.Error``,
``psycopg.Error``) are not wrapped."""

from __future__ import annotations

from collections.abc import Sequence

from fxtrio.errors import ActionError, Busy, FxtrioError, LoaderError


class DatabaseError(FxtrioError):
    """The base of all errors of `fx.db`."""


class DatabaseNotConfigured(DatabaseError):
    """Code uses the database of an app that has none, or outside a running app."""

    def __init__(self, no_app: str | None = None) -> None:
        """``no_app`` is why no running app was found, if none was."""
        cause = (
            "the settings name no database. Set 'database.url', for example to "
            "'sqlite:///data/app.db'"
        )
        super().__init__(f"fx.db: {no_app or cause}.")


class DatabaseUnusable(DatabaseError):
    """The database of the settings cannot be opened."""

    def __init__(self, safe_url: str, cause: str) -> None:
        super().__init__(f"database.url: {safe_url!r} cannot be opened: {cause}")
        self.cause = cause


class PoolerUnsuitable(DatabaseError):
    """A pooler lends connections for one transaction, and something needs a session."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(
            f"{place}: a pooler in front of PostgreSQL lends connections for one "
            f"transaction, so LISTEN, which {what} need, receives nothing. Name the server "
            "itself, or use the pooler's session mode."
        )


class DatabaseClosed(DatabaseError):
    """A database is used after its block ended."""

    def __init__(self) -> None:
        super().__init__(
            "fx.db: the app has ended, and its database is closed. Open the app again."
        )


class DatabaseBusy(DatabaseError, Busy):
    """Too many tasks wait for the database, or another process locks it for too long.

    The response has status 503 and `Retry-After`.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(f"fx.db: {cause}. Try again in a second.")
        self.cause = cause


class DatabaseReplaced(DatabaseBusy):
    """The file of an SQLite database is another one than the server has opened."""

    def __init__(self, path: str) -> None:
        super().__init__("")
        self.cause = f"{path} was replaced, moved or deleted while the server runs"
        self.args = (
            f"fx.db: {self.cause}. Writes would be lost, so all are rejected: restart the "
            "server. Restore backups with 'fx db restore' while it is stopped.",
        )


class DatabaseUnavailable(DatabaseError, Busy):
    """The database cannot work now: it is unreachable, its disk is full, or it is read-only.

    The response has status 503 and `Retry-After`.
    """

    message = "The data cannot be reached or written right now. Try again in a moment."

    def __init__(self, cause: str) -> None:
        super().__init__(
            f"fx.db: the database cannot work now ({cause}). Look at its disk and log."
        )
        self.cause = cause


class TransactionConflict(DatabaseError, Busy):
    """A transaction conflicted with others in all its attempts.

    The response has status 503 and `Retry-After`.
    """

    def __init__(self, attempts: int) -> None:
        often = "time" if attempts == 1 else "times"
        super().__init__(
            f"db.transaction: it conflicted with others {attempts} {often}, and was rolled "
            "back. Read and write fewer rows in it, or set 'retry' higher."
        )
        self.attempts = attempts


class IsolationTooLate(DatabaseError):
    """A nested transaction requests a higher isolation level than the outer one has."""

    def __init__(self, wanted: str, outer: str) -> None:
        super().__init__(
            f"db.transaction: {wanted!r} was requested inside a transaction that is "
            f"{outer!r}. Request it where the outer one begins."
        )


class TransactionAborted(DatabaseError):
    """A transaction was rolled back without its block noticing.

    A statement failed, the block caught the error, and the engine had rolled back everything.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(
            f"db.transaction: {cause}, so it was rolled back. Let the error leave the "
            "block, or put what may fail into a nested 'db.transaction()'."
        )


class CommitUnknown(DatabaseError):
    """The connection was lost during COMMIT: the transaction may be committed, or not."""

    def __init__(self, cause: str) -> None:
        super().__init__(
            f"db.transaction: the connection was lost during COMMIT ({cause}), so the "
            "transaction may have been committed, or not. Check the data before you repeat it."
        )


class ArgumentInvalid(DatabaseError, ActionError, LoaderError, ValueError):
    """An argument of a statement is a value that the engine cannot store.

    Such values come from clients: if a page, action or endpoint does not catch the error, the
    response has status 400 and ``message``; the log has the details.
    """

    def __init__(self, number: int, what: str) -> None:
        Exception.__init__(self, f"fx.db: ${number} is {what}. Check it before you pass it.")
        self.number = number
        self.message = "A value cannot be stored."
        self.status_code = 400
        self.data = {}
        self.fields = {}


class CopyUnsupported(DatabaseError):
    """COPY is used with an engine that does not support it."""

    def __init__(self, sql: str) -> None:
        super().__init__(
            f"db.copy: {sql[:60]!r} is for PostgreSQL. Use 'db.executemany' and 'db.stream', "
            "which every engine has."
        )


class CopyOpen(DatabaseError):
    """A statement runs during a COPY of the same transaction."""

    def __init__(self) -> None:
        super().__init__(
            "db.copy: the block of a COPY runs another statement in the same transaction, which "
            "accepts none until the COPY ends. Run it before the block, or after it."
        )


class RowMismatch(DatabaseError):
    """A row has no column for an attribute that the class of the result needs."""

    def __init__(self, row: type, missing: Sequence[str], columns: Sequence[str]) -> None:
        super().__init__(
            f"{row.__qualname__}: the query returns no {', '.join(map(repr, missing))}. Its "
            f"columns are {', '.join(map(repr, columns))}: name them with 'as'."
        )
        self.missing = tuple(missing)
