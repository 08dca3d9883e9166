"""What differs between engines in the SQL of the framework's own tables. Each engine says its own.

Statements of the application are written for one database, and are passed on as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

import attrs


class Lock(IntEnum):
    """The numbers of the locks that processes of an app take in their database."""

    MIGRATIONS = 7225102
    JOB_TABLES = 7225103
    JOB_CLOCK = 7225104
    AUTH_TABLES = 7225105


@attrs.frozen(kw_only=True, eq=False)
class Locks:
    """How a transaction keeps others out, where several can write at the same time."""

    wait: str
    """Waits for the lock ``{number}``, and holds it until the transaction ends."""

    attempt: str
    """The same without waiting; its value is false where another transaction holds it."""

    timeout: str
    """Limits how long each statement of the transaction waits for a lock, ``{milliseconds}``."""

    idle: str
    """Lets the transaction hold its locks while it runs no statement."""


@attrs.frozen(kw_only=True, eq=False)
class EngineSql:
    """Parts of statements. Those with names in braces are templates of `str.format`."""

    real: str
    """The type of a column of floating-point numbers with 64 bits."""

    blob: str
    """The type of a column of bytes."""

    keyed_table: str
    """Behind the columns of a table whose primary key is a text or bytes."""

    has_table: str
    """The query for how many tables are called ``{table}``."""

    position: str
    """The function that returns where its second argument is in its first one, 0 for nowhere."""

    skip_locked: str
    """Behind a query: rows that others have locked are passed over."""

    locks: Locks | None
    """None where all writers wait for each other."""

    statements: Callable[[str], list[str]]
    """Divides a script into its statements."""

    restore: str | None
    """Undoes what a script may have set for its connection, which outlives it; None for nothing."""
