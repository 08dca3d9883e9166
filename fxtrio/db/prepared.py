"""Names of prepared statements that no other connection has.

psycopg counts from ``_pg3_0`` in each connection. If a pooler shares one server connection
among several clients, one client's name may denote the statement of another, which would
run in its place. With random names this is an error, and no statement runs.
"""

from __future__ import annotations

import secrets
from typing import Any

from psycopg._preparing import Prepare, PrepareManager


class StatementNames(PrepareManager):  # type: ignore[misc]  # psycopg is an extra
    """psycopg's own account of prepared statements, with names of the connection's own."""

    def __init__(self) -> None:
        super().__init__()
        self._prefix = f"fx_{secrets.token_hex(8)}_"

    def get(self, query: Any, prepare: bool | None = None) -> tuple[Prepare, bytes]:
        """Return whether a query is prepared, or should be, and its name."""
        how, name = super().get(query, prepare)
        if how is Prepare.SHOULD:
            name = f"{self._prefix}{self._prepared_idx}".encode()
        return how, name

    def forget(self) -> None:
        """Prepare all statements again: the server has lost them."""
        self._names.clear()
        self._counts.clear()
        self._to_flush.clear()
