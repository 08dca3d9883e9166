"""Names of prepared statements that no other connection has.

psycopg counts from ``_pg3_0`` in each connection. Where a pooler lends one connection of the
server to several clients, a name of one client then stands for the statement of another one,
which runs in its place. With a name at random it is an error, and nothing has run.
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
        """Tell whether a query is prepared, or should be, and under which name."""
        how, name = super().get(query, prepare)
        if how is Prepare.SHOULD:
            name = f"{self._prefix}{self._prepared_idx}".encode()
        return how, name

    def forget(self) -> None:
        """Prepare everything anew: the server has lost what was prepared."""
        self._names.clear()
        self._counts.clear()
        self._to_flush.clear()
