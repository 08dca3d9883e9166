"""COPY, in and out."""

from __future__ import annotations

import random
from datetime import date

import psycopg
import pytest
import trio
import trio.testing

from fxtrio.db import CopyOpen, CopyUnsupported, Database
from tests.short import amount

INTO = "copy notes (id, text) from stdin"
OUT = "copy (select id, text from notes order by id) to stdout"
MANY = 50_000
"""More rows than a socket holds at a time."""


async def wait_idle(db: Database) -> None:
    """Wait until no connection but this one does anything, or is in a transaction."""
    sql = "select count(*) from pg_stat_activity where datname = current_database()"
    sql += " and state <> 'idle' and pid <> pg_backend_pid()"
    with trio.fail_after(60):
        while await db.value(sql):  # noqa: ASYNC110  # the server tells nobody
            await trio.sleep(0.01)


async def count(db: Database) -> int:
    number: int = await db.value("select count(*) from notes")
    return number


async def fill(db: Database, number: int) -> None:
    async with db.copy(INTO) as copy:
        for each in range(number):
            await copy.write_row((each, f"note {each}"))


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    if "sqlite" in request.node.name:
        return "file"
    url: str = request.getfixturevalue("postgres_url")
    return url


async def test_rows_go_in_and_come_out(db: Database) -> None:
    await fill(db, 3)
    async with db.copy(OUT) as copy:
        rows = [row async for row in copy.rows()]
    async with db.copy(OUT) as copy:
        copy.set_types(["int4", "text"])
        typed = [row async for row in copy.rows()]

    assert rows == [("0", "note 0"), ("1", "note 1"), ("2", "note 2")]
    assert typed == [(0, "note 0"), (1, "note 1"), (2, "note 2")]


async def test_data_goes_in_and_comes_out_in_the_format_of_the_statement(db: Database) -> None:
    async with db.copy("copy notes (id, text) from stdin (format csv)") as copy:
        for part in (b"1,on", 'e\n2,"t', b'wo, and"\n'):
            await copy.write(part)
    async with db.copy("copy notes (id, text) to stdout (format csv)") as copy:
        assert b"".join([part async for part in copy]) == b'1,one\n2,"two, and"\n'


async def test_values_go_in_as_arguments_of_statements_do(db: Database) -> None:
    await db.execute("create table made (day date, data jsonb, tags text[])")
    async with db.copy("copy made from stdin") as copy:
        await copy.write_row((date(2026, 1, 2), {"a": [1]}, ["x", "y"]))
        await copy.write_row((None, None, None))

    assert await db.all(dict, "select * from made order by day") == [
        {"day": date(2026, 1, 2), "data": {"a": [1]}, "tags": ["x", "y"]},
        {"day": None, "data": None, "tags": None},
    ]


async def test_an_error_in_the_block_keeps_nothing(db: Database) -> None:
    with pytest.raises(KeyError):
        async with db.copy(INTO) as copy:
            await copy.write_row((1, "a"))
            raise KeyError
    with pytest.raises(psycopg.errors.UniqueViolation):
        async with db.copy(INTO) as copy:
            await copy.write_row((1, "a"))
            await copy.write_row((1, "b"))

    assert await count(db) == 0
    await wait_idle(db)


async def test_it_is_part_of_the_transaction_around(db: Database) -> None:
    with pytest.raises(KeyError):
        async with db.transaction():
            await fill(db, 3)
            assert await count(db) == 3
            raise KeyError
    assert await count(db) == 0
    async with db.transaction():
        await fill(db, 3)
        with pytest.raises(psycopg.errors.UniqueViolation):
            async with db.transaction():
                await fill(db, 4)
    assert await count(db) == 3


async def test_who_leaves_early_leaves_the_connection_fit_for_use(db: Database) -> None:
    await fill(db, MANY)
    async with db.copy(OUT) as copy:
        async for _ in copy.rows():
            break
    async with db.transaction():
        async with db.copy(OUT) as copy:
            async for _ in copy:
                break
        assert await count(db) == MANY
    await wait_idle(db)


async def test_the_block_asks_nothing_else_in_its_transaction(db: Database) -> None:
    async with db.transaction():
        with pytest.raises(CopyOpen, match="Run it before the block, or after it"):
            async with db.transaction(), db.copy(INTO):
                await count(db)
        async with db.copy(INTO) as copy, trio.open_nursery() as nursery:
            nursery.start_soon(db.execute, "select 1")  # waits for its turn
            await trio.testing.wait_all_tasks_blocked(0.01)
            await copy.write_row((1, "a"))
            nursery.cancel_scope.cancel()
    assert await count(db) == 1
    async with db.copy(INTO) as copy:  # outside of one there are other connections
        await copy.write_row((2, await db.value("select text from notes") + "b"))


async def test_a_cancelled_copy_keeps_nothing_and_spoils_no_connection(db: Database) -> None:
    chance = random.Random(7)
    copied = 0
    copies = amount(50, long=120)
    for number in range(copies):
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:

                async def cancel(after: int, scope: trio.CancelScope = scope) -> None:
                    for _ in range(after):
                        await trio.lowlevel.checkpoint()
                    scope.cancel()

                nursery.start_soon(cancel, chance.randrange(10 ** chance.randrange(1, 5)))
                if number % 2:
                    async with db.copy(INTO) as copy:
                        for each in range(100):
                            await copy.write_row((1000 * number + each, f"{number}.{each}"))
                            if each % 10 == 0:
                                await trio.lowlevel.checkpoint()
                    copied += 100
                else:
                    async with db.copy("copy (select generate_series(1, 9999)) to stdout") as copy:
                        async for _ in copy:
                            pass
                nursery.cancel_scope.cancel()

    assert 0 < copied < 50 * copies  # some of both
    assert await count(db) == copied
    await wait_idle(db)
    sizes = await db.all(dict, "select count(*) as n from notes group by id / 1000")
    assert {row["n"] for row in sizes} <= {100}


async def test_sqlite_has_none_and_says_what_to_use(db: Database) -> None:
    for _ in range(2):
        with pytest.raises(CopyUnsupported, match=r"is for PostgreSQL\. Use 'db\.executemany'"):
            async with db.copy(INTO):
                pass
    async with db.transaction():
        with pytest.raises(CopyUnsupported):
            async with db.copy(INTO):
                pass
