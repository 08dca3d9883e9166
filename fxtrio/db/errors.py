"""Errors of the database. What the engine itself raises (``sqlite3.Error``, ``psycopg.Error``)
about a statement is left as it is."""

from __future__ import annotations

from collections.abc import Sequence

from fxtrio.errors import ActionError, Busy, FxtrioError, LoaderError


class DatabaseError(FxtrioError):
    """The base of all errors of `fx.db`."""


class DatabaseNotConfigured(DatabaseError):
    """Code asks for the database of an app that has none, or outside a running app."""

    def __init__(self, no_app: str | None = None) -> None:
        """``no_app`` is why no running app was found, if none was."""
        cause = (
            "the settings name no database. Set 'database.url', for example to "
            "'sqlite:///data/app.db'"
        )
        super().__init__(f"fx.db: {no_app or cause}.")


class DatabaseUnusable(DatabaseError):
    """The database of the settings cannot be opened."""

    def __init__(self, shown: str, cause: str) -> None:
        super().__init__(f"database.url: {shown!r} cannot be opened: {cause}")
        self.cause = cause


class PoolerUnsuitable(DatabaseError):
    """A pooler lends connections for one transaction, and something needs a session."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(
            f"{place}: a pooler stands before PostgreSQL that lends connections for one "
            f"transaction, where LISTEN, which {what} need, hears nothing. Name the server "
            "itself, or let the pooler lend whole sessions."
        )


class DatabaseClosed(DatabaseError):
    """A database is asked after the block that kept it open."""

    def __init__(self) -> None:
        super().__init__("fx.db: the app whose database this was has ended. Ask that of a new one.")


class DatabaseBusy(DatabaseError, Busy):
    """Too many wait for the database already, or another process holds it for too long.

    Becomes an answer with status 503 and `Retry-After`.
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
            f"fx.db: {self.cause}. What is written now would be lost, so nothing is: start the "
            "server anew. Restore backups with 'fx db restore' while it is stopped.",
        )


class DatabaseUnavailable(DatabaseError, Busy):
    """The database can work for nobody now: it is away, its disk is full, or it only reads.

    Becomes an answer with status 503 and `Retry-After`.
    """

    message = "The data cannot be reached or written right now. Try again in a moment."

    def __init__(self, cause: str) -> None:
        super().__init__(
            f"fx.db: the database cannot work now ({cause}). Look at its disk and log."
        )
        self.cause = cause


class TransactionConflict(DatabaseError, Busy):
    """A transaction could not be kept beside others, however often it ran.

    Becomes an answer with status 503 and `Retry-After`.
    """

    def __init__(self, attempts: int) -> None:
        often = "time" if attempts == 1 else "times"
        super().__init__(
            f"db.transaction: others were in its way {attempts} {often}, so nothing of it was "
            "kept. Read and write fewer rows in it, or set 'retry' higher."
        )
        self.attempts = attempts


class IsolationTooLate(DatabaseError):
    """A transaction inside of another one asks for more isolation than that has."""

    def __init__(self, wanted: str, outer: str) -> None:
        super().__init__(
            f"db.transaction: {wanted!r} is asked for inside of a transaction that is "
            f"{outer!r}. Ask for it where the outer one begins."
        )


class TransactionAborted(DatabaseError):
    """Nothing of a transaction was kept, and its block has not noticed.

    A statement failed, its error was caught, and the engine had taken everything back.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(
            f"db.transaction: {cause}, so nothing of it was kept. Let the error leave the "
            "block, or put what may fail into a nested 'db.transaction()'."
        )


class CommitUnknown(DatabaseError):
    """The connection was lost while a transaction was committed: it may be kept, or not."""

    def __init__(self, cause: str) -> None:
        super().__init__(
            f"db.transaction: the connection was lost during COMMIT ({cause}), so the "
            "transaction may have been kept, or not. Look before you repeat it."
        )


class ArgumentRefused(DatabaseError, ActionError, LoaderError, ValueError):
    """An argument of a statement is one that the engine cannot hold.

    Such values come from clients: pages, actions and endpoints that let it through answer
    with status 400 and ``message``; the log has all of it.
    """

    def __init__(self, number: int, what: str) -> None:
        Exception.__init__(self, f"fx.db: ${number} is {what}. Check it before it comes here.")
        self.number = number
        self.message = "A value is not one that can be kept."
        self.status_code = 400
        self.data = {}
        self.fields = {}


class CopyUnsupported(DatabaseError):
    """COPY is asked of an engine that has none."""

    def __init__(self, sql: str) -> None:
        super().__init__(
            f"db.copy: {sql[:60]!r} is for PostgreSQL. Use 'db.executemany' and 'db.stream', "
            "which every engine has."
        )


class CopyOpen(DatabaseError):
    """A statement comes in the middle of a COPY of the same transaction."""

    def __init__(self) -> None:
        super().__init__(
            "db.copy: the block of a COPY asks something else in the same transaction, which "
            "takes no other statement meanwhile. Ask before the block, or after it."
        )


class RowMismatch(DatabaseError):
    """A row has no column for an attribute that the class of the result needs."""

    def __init__(self, row: type, missing: Sequence[str], columns: Sequence[str]) -> None:
        super().__init__(
            f"{row.__qualname__}: the query gives no {', '.join(map(repr, missing))}. Its "
            f"columns are {', '.join(map(repr, columns))}: name them with 'as'."
        )
        self.missing = tuple(missing)
