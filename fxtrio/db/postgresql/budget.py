"""Whether all processes of an app together may open more connections than PostgreSQL allows."""

from __future__ import annotations

import logging

from fxtrio.db.database import Database

_ALLOWED = (
    "select current_setting('max_connections')::int"
    " - current_setting('superuser_reserved_connections')::int"
)

log = logging.getLogger("fx.db")


async def warn_of_budget(database: Database, *, processes: int, beside: int) -> None:
    """Warn if ``processes`` like this one may need more connections than the server allows.

    ``beside`` is the number of further connections of one process, which
    `Database.most_connections` does not count.
    """
    each = database.most_connections
    if each is None:
        return
    wanted = processes * (each + beside)
    allowed = await database.value(_ALLOWED)
    if wanted > allowed:
        log.warning(
            "database: %d of %d connections may be needed (%d worker process%s, %d each), so some "
            "requests would get a 503. Lower 'database.pool' or '--workers', raise "
            "max_connections of PostgreSQL, or put a pooler in front of it.",
            *(wanted, allowed, processes, "" if processes == 1 else "es", each + beside),
        )
