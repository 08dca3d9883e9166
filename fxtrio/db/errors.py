"""Errors of the database. The engine's own errors about a statement (``sqlite3.Error``,
``psycopg.Error``) are not wrapped."""

from __future__ import annotations

from collections.abc import Sequence

from fxtrio.errors import ActionError, Busy, LoaderError, PlacedError


class DatabaseError(PlacedError):
    """The base of all errors of `fx.db`."""


class DatabaseNotConfigured(DatabaseError):
    """Code uses the database of an app that has none, or outside a running app."""

    def __init__(self, no_app: str | None = None) -> None:
        """``no_app`` is why no running app was found, if none was."""
        remedy = "Set 'database.url', for example to 'sqlite:///data/app.db'"
        if no_app:
            super().__init__("fx.db", no_app)
        else:
            super().__init__("fx.db", "the settings name no database", remedy)


class DatabaseUnusable(DatabaseError):
    """The database of the settings cannot be opened."""

    def __init__(self, safe_url: str, cause: str) -> None:
        super().__init__("database.url", f"{safe_url!r} cannot be opened: {cause}")
        self.cause = cause


class PoolerUnsuitable(DatabaseError):
    """A pooler lends connections for one transaction, and something needs a session."""

    remedy = "Name the server itself, or use the pooler's session mode"

    def __init__(self, place: str, what: str) -> None:
        super().__init__(
            place,
            "a pooler in front of PostgreSQL lends connections for one transaction, so LISTEN, "
            f"which {what} need, receives nothing",
        )


class DatabaseClosed(DatabaseError):
    """A database is used after its block ended."""

    def __init__(self) -> None:
        super().__init__(
            "fx.db", "the app has ended, and its database is closed", "Open the app again"
        )


class DatabaseBusy(DatabaseError, Busy):
    """Too many tasks wait for the database, or another process locks it for too long.

    The response has status 503 and `Retry-After`.
    """

    remedy = "Try again in a second"

    def __init__(self, cause: str) -> None:
        super().__init__("fx.db", cause)


class DatabaseReplaced(DatabaseBusy):
    """The file of an SQLite database is another one than the server has opened."""

    remedy = (
        "Writes would be lost, so all are rejected: restart the server. Restore backups with "
        "'fx db restore' while it is stopped"
    )

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} was replaced, moved or deleted while the server runs")


class DatabaseUnavailable(DatabaseError, Busy):
    """The database cannot work now: it is unreachable, its disk is full, or it is read-only.

    The response has status 503 and `Retry-After`.
    """

    message = "The data cannot be reached or written right now. Try again in a moment."
    remedy = "Look at its disk and log"

    def __init__(self, cause: str) -> None:
        super().__init__("fx.db", f"the database cannot work now ({cause})")
        self.cause = cause


class TransactionConflict(DatabaseError, Busy):
    """A transaction conflicted with others in all its attempts.

    The response has status 503 and `Retry-After`.
    """

    remedy = "Read and write fewer rows in it, or set 'retry' higher"

    def __init__(self, attempts: int) -> None:
        often = "1 time" if attempts == 1 else f"{attempts} times"
        super().__init__(
            "db.transaction", f"it conflicted with others {often}, and was rolled back"
        )
        self.attempts = attempts


class IsolationTooLate(DatabaseError):
    """A nested transaction requests a higher isolation level than the outer one has."""

    remedy = "Request it where the outer one begins"

    def __init__(self, wanted: str, outer: str) -> None:
        cause = f"{wanted!r} was requested inside a transaction that is {outer!r}"
        super().__init__("db.transaction", cause)


class TransactionAborted(DatabaseError):
    """A transaction was rolled back without its block noticing.

    A statement failed, the block caught the error, and the engine had rolled back everything.
    """

    remedy = "Let the error leave the block, or put what may fail into a nested 'db.transaction()'"

    def __init__(self, cause: str) -> None:
        super().__init__("db.transaction", f"{cause}, so it was rolled back")


class CommitUnknown(DatabaseError):
    """The connection was lost during COMMIT: the transaction may be committed, or not."""

    remedy = "Check the data before you repeat it"

    def __init__(self, cause: str) -> None:
        super().__init__(
            "db.transaction",
            f"the connection was lost during COMMIT ({cause}), so the transaction may have been "
            "committed, or not",
        )


class ArgumentInvalid(DatabaseError, ActionError, LoaderError, ValueError):
    """An argument of a statement is a value that the engine cannot store.

    Such values come from clients: if a page, action or endpoint does not catch the error, the
    response has status 400 and ``message``; the log has the details.
    """

    remedy = "Check it before you pass it"

    def __init__(self, number: int, what: str) -> None:
        super().__init__("fx.db", f"${number} is {what}")  # as an ActionError it has status 400
        self.number = number
        self.message = "A value cannot be stored."


class CopyUnsupported(DatabaseError):
    """COPY is used with an engine that does not support it."""

    remedy = "Use 'db.executemany' and 'db.stream', which every engine has"

    def __init__(self, sql: str) -> None:
        super().__init__("db.copy", f"{sql[:60]!r} is for PostgreSQL")


class CopyOpen(DatabaseError):
    """A statement runs during a COPY of the same transaction."""

    remedy = "Run it before the block, or after it"

    def __init__(self) -> None:
        super().__init__(
            "db.copy",
            "the block of a COPY runs another statement in the same transaction, which accepts "
            "none until the COPY ends",
        )


class RowMismatch(DatabaseError):
    """A row has no column for an attribute that the class of the result needs."""

    def __init__(self, row: type, missing: Sequence[str], columns: Sequence[str]) -> None:
        super().__init__(
            row.__qualname__,
            f"the query returns no {', '.join(map(repr, missing))}",
            f"Its columns are {', '.join(map(repr, columns))}: name them with 'as'",
        )
        self.missing = tuple(missing)
