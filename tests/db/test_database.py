"""Queries and transactions, the same on every engine."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NotRequired, TypedDict
from uuid import UUID

import attrs
import pytest
import trio
from pydantic import BaseModel
from trio.testing import wait_all_tasks_blocked

from fxtrio.db import Database, DatabaseBusy, RowMismatch, TransactionAborted
from fxtrio.db.errors import DatabaseClosed
from fxtrio.db.pool import Pool
from fxtrio.db.postgresql.engine import Postgres
from fxtrio.db.sqlite.engine import Sqlite
from tests.db.engines import opened


@attrs.frozen
class Note:
    id: int
    text: str
    stars: int = 0


@dataclass
class NoteData:
    id: int
    text: str


class NoteModel(BaseModel):
    id: int
    text: str


async def texts(db: Database) -> list[str]:
    rows = await db.all(dict, "select text from notes order by id")
    return [row["text"] for row in rows]


async def add(db: Database, number: int, text: str = "") -> None:
    sql = "insert into notes (id, text) values ($1, $2)"
    assert await db.execute(sql, number, text or str(number)) == 1


class NoteKeys(TypedDict):
    id: int
    text: str
    stars: NotRequired[int]


@pytest.mark.parametrize("row", [dict, NoteKeys, Note, NoteData, NoteModel])
async def test_rows_become_the_requested_type(db: Database, row: Any) -> None:
    await add(db, 1, "one")
    await add(db, 2, "two")

    found = await db.all(row, "select id, text from notes where id > $1 order by id", 0)
    one = await db.one(row, "select text, id from notes where id = $1", 2)

    expected = [row(id=1, text="one"), row(id=2, text="two")]
    assert found == expected and one == expected[1]
    assert await db.one(row, "select id, text from notes where id = $1", 9) is None


async def test_an_argument_may_be_used_twice(db: Database) -> None:
    await add(db, 1, "1")

    assert (
        await db.value("select count(*) from notes where id = $1 or id = $2 or id = $1", 1, 7) == 1
    )
    assert await db.value("select id from notes where id = 7") is None


async def test_a_missing_column_is_named(db: Database) -> None:
    await add(db, 1)

    with pytest.raises(RowMismatch, match="'text'"):
        await db.all(Note, "select id, 5 as stars from notes")
    with pytest.raises(RowMismatch, match="'text'"):
        await db.all(NoteKeys, "select id, 5 as stars from notes")
    with pytest.raises(TypeError, match="is not a class for rows"):
        await db.all(int, "select id from notes")


@attrs.frozen
class Kinds:
    moment: datetime
    day: date | None
    key: UUID
    price: Decimal
    yes: bool
    missing: date | None


async def test_values_keep_their_types(db: Database) -> None:
    kinds = ("timestamptz", "date", "uuid", "numeric", "boolean", "date")
    if db.dialect == "sqlite":  # which would make numbers of a column that is called numeric
        kinds = ("text", "text", "text", "text", "integer", "text")
    columns = zip(attrs.fields_dict(Kinds), kinds, strict=True)
    listed = [f"{name} {kind}" for name, kind in columns]
    await db.execute(f"create table kinds ({', '.join(listed)})")
    values = Kinds(
        datetime(2026, 3, 29, 1, 30, tzinfo=UTC),
        date(2026, 3, 29),
        UUID(int=7),
        Decimal("19.90"),
        True,
        None,
    )
    sql = "insert into kinds values ($1, $2, $3, $4, $5, $6)"
    await db.execute(sql, *attrs.astuple(values))

    assert await db.one(Kinds, "select * from kinds") == values


async def test_executemany_is_all_or_nothing(db: Database) -> None:
    sql = "insert into notes (id, text) values ($1, $2)"

    assert await db.executemany(sql, [(1, "a"), (2, "b")]) == 2
    with pytest.raises(Exception, match=r"(?i)unique"):
        await db.executemany(sql, [(3, "c"), (4, "a")])

    assert await texts(db) == ["a", "b"]


async def test_a_stream_gives_every_row_and_may_be_left(db: Database) -> None:
    sql = "insert into notes (id, text) values ($1, $2)"
    await db.executemany(sql, [(number, str(number)) for number in range(1200)])
    seen = []

    async with db.stream(
        Note, "select id, text from notes where id < $1 order by id", 1100
    ) as rows:
        async for note in rows:
            seen.append(note.id)
    async with db.stream(dict, "select id from notes order by id") as others:
        async for row in others:
            await db.execute("update notes set text = 'x' where id = $1", row["id"])
            break

    assert seen == list(range(1100))
    assert await db.value("select text from notes where id = 0") == "x"


async def test_a_transaction_is_committed_or_rolled_back(db: Database) -> None:
    async with db.transaction():
        await add(db, 1)
        assert db.in_transaction
    with pytest.raises(KeyError):
        async with db.transaction():
            await add(db, 2)
            raise KeyError
    assert await texts(db) == ["1"] and not db.in_transaction


async def test_a_nested_transaction_is_undone_alone(db: Database) -> None:
    async with db.transaction():
        await add(db, 1)
        with pytest.raises(KeyError):
            async with db.transaction():
                await add(db, 2)
                raise KeyError
        async with db.transaction():
            await add(db, 3)
            with pytest.raises(Exception, match=r"(?i)unique"):
                async with db.transaction():
                    await add(db, 4, "1")
        await add(db, 5)

    assert await texts(db) == ["1", "3", "5"]


async def test_what_waits_for_the_commit_is_called_after_it_alone(db: Database) -> None:
    called: list[str] = []
    async with db.transaction():
        await add(db, 1)
        db.after_commit(called.append, "kept")
        with pytest.raises(KeyError):
            async with db.transaction():
                db.after_commit(called.append, "undone")
                raise KeyError
        assert called == []
    with pytest.raises(KeyError):
        async with db.transaction():
            db.after_commit(called.append, "failed")
            raise KeyError
    db.after_commit(called.append, "at once")

    assert called == ["kept", "at once"]


async def test_a_function_that_would_have_to_be_awaited_is_rejected(db: Database) -> None:
    async def later() -> None: ...

    with pytest.raises(TypeError, match="enqueue, later"):
        db.after_commit(later)


async def test_what_fails_after_the_commit_undoes_nothing(
    db: Database, caplog: pytest.LogCaptureFixture
) -> None:
    called: list[str] = []

    def broken() -> None:
        raise KeyError("broken")

    async with db.transaction():
        await add(db, 1)
        db.after_commit(broken)
        db.after_commit(called.append, "next")

    assert called == ["next"] and await texts(db) == ["1"]
    assert "the transaction is committed" in caplog.text


async def test_tasks_of_a_block_share_its_transaction(db: Database) -> None:
    async with db.transaction():
        async with trio.open_nursery() as nursery:
            for number in range(10):
                nursery.start_soon(add, db, number)
        assert len(await texts(db)) == 10

    assert len(await texts(db)) == 10


async def test_a_task_that_outlives_the_transaction_is_not_in_it(db: Database) -> None:
    over = trio.Event()

    async def later() -> None:
        await over.wait()
        assert not db.in_transaction
        await add(db, 2)

    async with trio.open_nursery() as nursery:
        with pytest.raises(KeyError):
            async with db.transaction():
                await add(db, 1)
                nursery.start_soon(later)
                raise KeyError
        over.set()

    assert await texts(db) == ["2"]


async def test_nested_transactions_that_overlap_are_rejected(db: Database) -> None:
    entered, both = trio.Event(), trio.Event()

    async def first() -> None:
        async with db.transaction():
            await add(db, 1)
            entered.set()
            await both.wait()

    async def second() -> None:
        await entered.wait()
        async with db.transaction():
            await add(db, 2)
            both.set()
            await trio.sleep_forever()

    with pytest.raises(ExceptionGroup) as caught:
        async with db.transaction(), trio.open_nursery() as nursery:
            nursery.start_soon(first)
            nursery.start_soon(second)

    assert caught.group_contains(TransactionAborted, match="overlapped")
    assert await texts(db) == []


async def test_who_waits_for_a_connection_is_counted(engine: str, tmp_path: Path) -> None:
    inside, leave = trio.Event(), trio.Event()
    async with opened(engine, tmp_path, pool=1, waiters=1) as db:
        await db.execute("create table notes (id integer primary key, text text)")

        async def hold() -> None:
            async with db.transaction():
                await add(db, 1)
                inside.set()
                await leave.wait()

        with trio.fail_after(30):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(hold)
                await inside.wait()
                nursery.start_soon(add, db, 2)
                await wait_all_tasks_blocked()
                with pytest.raises(DatabaseBusy, match=r"database\.waiters"):
                    await add(db, 3)
                leave.set()

        assert await texts(db) == ["1", "2"]


def pool_of(db: Database) -> Pool[Any]:
    """Return what lends the connections that write."""
    engine = db._engine
    if isinstance(engine, Sqlite):
        return engine._writer
    assert isinstance(engine, Postgres)
    return engine._pool


async def test_what_was_reported_committed_is_what_the_table_holds(db: Database) -> None:
    """Transactions cancelled at any moment are committed as a whole, or not at all."""
    chance = random.Random(5)
    committed: set[int] = set()
    await db.execute("create table pairs (id integer not null, half integer not null)")

    async def write(number: int, cancelled: trio.CancelScope, after: int) -> None:
        with cancelled:
            async with db.transaction():
                await db.execute("insert into pairs values ($1, 1)", number)
                await trio.lowlevel.checkpoint()
                await db.execute("insert into pairs values ($1, 2)", number)
            committed.add(number)

    async def cancel(cancelled: trio.CancelScope, after: int) -> None:
        for _ in range(after):
            await trio.lowlevel.checkpoint()
        cancelled.cancel()

    for start in range(0, 900, 10):
        async with trio.open_nursery() as nursery:
            for number in range(start, start + 10):
                scope, after = trio.CancelScope(), chance.randrange(200)
                nursery.start_soon(write, number, scope, after)
                nursery.start_soon(cancel, scope, after)

    rows = await db.all(dict, "select id, count(*) as halves from pairs group by id")
    assert {row["id"] for row in rows} == committed
    assert {row["halves"] for row in rows} <= {2}
    assert 0 < len(committed) < 900  # some of both
    pool = pool_of(db).statistics()
    assert (pool.lent, pool.waiting) == (0, 0)
    if db.dialect == "postgresql":
        sql = "select count(*) from pg_stat_activity where state like 'idle in transaction%'"
        assert await db.value(sql) == 0
    async with trio.open_nursery() as nursery:  # and each connection is fit for use
        for number in range(1, pool.size + 1):
            nursery.start_soon(add, db, number)


async def test_a_database_takes_no_queries_after_its_block(engine: str, tmp_path: Path) -> None:
    async with opened(engine, tmp_path) as database:
        assert await database.value("select 1") == 1
    with pytest.raises(DatabaseClosed, match="has ended"):
        await database.value("select 1")
