"""Opens connections to PostgreSQL on which both sides detect a lost peer.

A lost host, and a firewall that drops a connection, send nothing. The client detects this by
TCP keepalives and timeouts, which libpq sets; the server by settings of the session.
"""

from __future__ import annotations

from typing import Any

import attrs
import psycopg
import trio
from psycopg import AsyncRawCursor
from psycopg.conninfo import conninfo_to_dict

from fxtrio.config import DatabaseConfig
from fxtrio.db.errors import DatabaseBusy
from fxtrio.db.postgresql.psycopg_trio import TrioConnection

_TCP_USER_TIMEOUT_SINCE = 120_000
"""Of the server, as libpq writes versions."""

_SESSION = (
    "pg_backend_pid()",
    "(select extract(epoch from backend_start)::float8"
    " from pg_stat_get_activity(pg_backend_pid()))",
)


@attrs.frozen
class Connector:
    """Opens connections by the settings; options in the URL take precedence."""

    url: str = attrs.field(repr=False)
    settings: DatabaseConfig = attrs.field(factory=DatabaseConfig)

    async def connect(self) -> TrioConnection:
        """Open a connection in autocommit mode. Raises DatabaseBusy."""
        limit = self.settings.connect_timeout
        try:
            with trio.fail_after(limit):
                connection = await TrioConnection.connect(
                    self.url,
                    autocommit=True,
                    cursor_factory=AsyncRawCursor,
                    prepare_threshold=5 if self.settings.prepare else None,
                    **self._of_libpq(),
                )
                connection.name_statements()
                return connection
        except trio.TooSlowError as error:
            raise DatabaseBusy(f"the server did not answer for {limit:g} s") from error
        except psycopg.OperationalError as error:
            cause = " ".join(str(error).split())
            raise DatabaseBusy(f"the server accepts no connection ({cause})") from error

    def _of_libpq(self) -> dict[str, Any]:
        """Return libpq's options for the client's side, except those in the URL."""
        settings = self.settings
        wanted = {
            "keepalives_idle": settings.keepalive_idle,
            "keepalives_interval": settings.keepalive_interval,
            "keepalives_count": settings.keepalive_count,
            "tcp_user_timeout": round(1000 * settings.tcp_user_timeout),
        }
        options_in_url = conninfo_to_dict(self.url)
        return {
            name: value for name, value in wanted.items() if value and name not in options_in_url
        }

    def of_session(self, version: int) -> tuple[str, list[str]]:
        """Return the query that sets the server's side, and its arguments.

        Its first columns are the process id of the session's backend, and when that started. A
        query, since poolers reject startup parameters. ``version`` is the server's.
        """
        settings = self.settings
        wanted = {
            "tcp_keepalives_idle": settings.keepalive_idle,
            "tcp_keepalives_interval": settings.keepalive_interval,
            "tcp_keepalives_count": settings.keepalive_count,
            "idle_in_transaction_session_timeout": round(1000 * settings.idle_transaction_timeout),
        }
        if version >= _TCP_USER_TIMEOUT_SINCE:
            wanted["tcp_user_timeout"] = round(1000 * settings.tcp_user_timeout)
        options_in_url = str(conninfo_to_dict(self.url).get("options") or "")
        chosen = {
            name: str(value)
            for name, value in wanted.items()
            if value and name not in options_in_url
        }
        calls = [f"set_config('{name}', ${n}, false)" for n, name in enumerate(chosen, 1)]
        return f"select {', '.join([*_SESSION, *calls])}", [*chosen.values()]
