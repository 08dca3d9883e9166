"""What differs in the framework's own SQL is said by the engine, once."""

from __future__ import annotations

import re

from fxtrio.db import Database
from fxtrio.db.engine import Lock
from tests.source_tree import PACKAGE, python_files


def test_no_code_compares_the_name_of_a_dialect() -> None:
    found = [
        file.relative_to(PACKAGE).as_posix()
        for file in python_files()
        if re.search(r"dialect\s*(?:[=!]=|in\b)", file.read_text(encoding="utf-8"))
    ]

    assert found == []


def test_each_lock_has_a_number_of_its_own() -> None:
    assert len({int(lock) for lock in Lock}) == len(Lock.__members__)


async def test_a_table_is_found_by_its_name(db: Database) -> None:
    counted = [await db.value(db.sql.has_table.format(table=name)) for name in ("notes", "other")]
    assert counted == [1, 0]


async def test_the_position_of_a_text_counts_from_one(db: Database) -> None:
    query = f"select {db.sql.position}($1, $2)"

    assert [await db.value(query, "note", part) for part in ("ote", "x")] == [2, 0]


async def test_a_lock_that_is_held_can_be_taken_again_in_its_transaction(db: Database) -> None:
    locks = db.sql.locks
    async with db.transaction():
        if locks is not None:
            await db.execute(locks.wait.format(number=Lock.AUTH_TABLES))
            assert await db.value(locks.attempt.format(number=Lock.AUTH_TABLES))
