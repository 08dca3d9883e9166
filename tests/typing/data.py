"""The database, jobs of both kinds, and stored responses."""

from __future__ import annotations

from typing import Any, TypedDict, assert_type

import attrs

from fx.asyncio import portal
from fx.cache import revalidate
from fx.db import Database, db, get_database
from fx.jobs import Job, every, job
from fx.tasks import enqueue


@attrs.frozen
class Book:
    id: int
    title: str


class Count(TypedDict):
    books: int


async def filtered(sql: str, arguments: list[object]) -> None:
    assert_type(await db.all(Book, sql, *arguments), list[Book])
    assert_type(await db.all(Count, sql, *arguments), list[Count])
    assert_type(await db.one(Count, sql, *arguments), Count | None)


async def queries() -> None:
    assert_type(await db.all(Book, "select id, title from books"), list[Book])
    assert_type(await db.all(dict, "select * from books"), list[dict[Any, Any]])
    assert_type(await db.one(Book, "select * from books where id = $1", 7), Book | None)
    assert_type(await db.value("select count(*) from books"), Any)
    assert_type(await db.execute("delete from books where id = $1", 7), int)
    assert_type(await db.executemany("insert into books values ($1, $2)", [(1, "a")]), int)
    assert_type(get_database(), Database)
    async with db.stream(Book, "select * from books") as books:
        async for book in books:
            assert_type(book, Book)
    async with db.transaction():
        await db.execute(7)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    async for attempt in db.transaction(isolation="serializable", retry=5):
        async with attempt:
            await db.execute("delete from books")
    db.transaction(isolation="none")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@job
async def send(address: str, *, copies: int = 1) -> None:
    """A durable job."""


@job(retries=5, timeout=60, atomic=True, queue="mail")
async def remind(number: int) -> None:
    """One with options."""


@every("0 6 * * *", tz="Europe/Vienna")
async def report() -> None:
    """One on a schedule."""


async def jobs() -> None:
    remind_one: Job[[int]] = remind
    remind_one(7)
    assert_type(report, Job[[]])
    assert_type(await send.enqueue("a@example.com", copies=2, delay=60.0), int | None)
    remind("a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def resize(path: str, *, width: int) -> None:
    """What an in-memory job runs."""


async def fetch(url: str) -> bytes:
    return url.encode()


async def calls() -> None:
    enqueue(resize, "a.png", width=80)
    enqueue(resize, "a.png")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    enqueue(resize, "a.png", width="80")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert_type(revalidate("/books", "/books/[id]"), int)
    assert_type(await portal(fetch, "https://example.com"), bytes)
    await portal(fetch, 7)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
