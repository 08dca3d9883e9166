"""The query box of Studio: queries that read, on each engine."""

from __future__ import annotations

import pytest

from fxtrio.db import Database
from fxtrio.plugins.studio.tables import MOST, QueryRejected, first_rows, names


async def test_queries_that_read_are_answered_and_others_are_rejected(db: Database) -> None:
    is_postgres = db.dialect == "postgresql"
    notes = [(number, f"note {number}") for number in range(MOST + 50)]
    await db.executemany("insert into notes (id, text) values ($1, $2)", notes)

    async def ask(sql: str) -> list[dict[str, object]]:
        return await first_rows(db, sql, is_postgres=is_postgres)

    assert "notes" in await names(db, is_postgres=is_postgres)
    assert len(await ask("select * from notes")) == MOST
    assert await ask("explain select * from notes")
    with pytest.raises(QueryRejected):
        await ask("delete from notes")
    assert await db.value("select count(*) from notes") == MOST + 50
