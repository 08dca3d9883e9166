"""Arguments that an engine cannot hold."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from fx.jobs import JobKeyInvalid, job
from fx.testing import open_app
from fxtrio.db import ArgumentInvalid, Database, DatabaseError
from tests.jobs.running import running
from tests.trees import page, write_tree

INSERT = "insert into notes (id, text) values ($1, $2)"
HALF = "a\ud800b"


def statements(db: Database, number: Any, text: Any) -> list[Any]:
    """Return the ways by which a value can go into a database."""

    async def stream() -> None:
        async with db.stream(dict, "select * from notes where id = $1 and text = $2", number, text):
            pass

    return [
        lambda: db.execute(INSERT, number, text),
        lambda: db.executemany(INSERT, [(1, "a"), (number, text)]),
        lambda: db.all(dict, "select * from notes where id = $1 and text = $2", number, text),
        stream,
    ]


async def test_an_integer_that_is_too_large_is_named(db: Database) -> None:
    for number in (2**63, -(2**63) - 1, 10**40):
        for ask in statements(db, number, "a")[:2]:
            with pytest.raises(ArgumentInvalid, match=r"fx\.db: \$1 is an integer") as caught:
                await ask()
            assert caught.value.number == 1 and isinstance(caught.value, DatabaseError)
    assert await db.value("select count(*) from notes") == 0
    assert await db.execute(INSERT, 2**31 - 1, "fits") == 1


async def test_text_with_half_a_pair_is_named(db: Database) -> None:
    for ask in statements(db, 1, HALF):
        with pytest.raises(ArgumentInvalid, match=r"\$2 is text with a lone surrogate"):
            await ask()


async def test_text_with_a_nul_is_rejected_or_stored(db: Database) -> None:
    if db.dialect == "sqlite":
        await db.execute(INSERT, 1, "a\0b")
        assert await db.value("select text from notes") == "a\0b"
        return
    for ask in statements(db, 1, "a\0b"):
        with pytest.raises(ArgumentInvalid, match=r"\$2 is text with a NUL \(U\+0000\)"):
            await ask()
    await db.execute("create table made (data jsonb)")
    with pytest.raises(ArgumentInvalid, match=r"\$1 is text with a NUL"):
        await db.execute("insert into made values ($1)", {"a": ["b\0"]})


async def test_the_transaction_continues_as_after_any_error(db: Database) -> None:
    async with db.transaction():
        with pytest.raises(ArgumentInvalid):
            async with db.transaction():
                await db.execute(INSERT, 1, HALF)
        await db.execute(INSERT, 1, "a")
    assert await db.value("select count(*) from notes") == 1


PAGE = """
    from fx.db import db

    @server
    async def load(request):
        number = int(request.query_params.get("id", "1"))
        return {"found": await db.value("select text from notes where id = $1", number)}

    @action
    async def add(request):
        body = await request.json()
        await db.execute("insert into notes values ($1, 'a')", body["id"])
        return {}
    """
API = """
    from fx.db import db

    async def get(request):
        return {"found": await db.value("select $1", int(request.query_params["id"]))}
    """


async def test_it_is_the_clients_fault_and_reported_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = {
        "pages/index.fxl": page(PAGE),
        "pages/api/one.py": API,
        "fx.config.json": '{"database": {"url": "sqlite:///data/app.db"}}',
        "migrations/0001_notes.sql": "create table notes (id integer, text text);",
    }
    large = 2**70
    async with open_app(write_tree(tmp_path, files)) as client:
        action = await client.action("/", "add", {"id": large})
        html = await client.get(f"/?id={large}")
        answer = await client.get(f"/api/one?id={large}")

    assert (action.status, html.status_code, answer.status_code) == (400, 400, 400)
    assert "A value cannot be stored." in answer.text and "$1" not in answer.text
    records = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.getMessage().partition(",")[0] for record in records] == [
        "fx.db: $1 is an integer of more than 64 bits"
    ] * 3


@pytest.mark.parametrize("key", ["a\0b", HALF, 7])
async def test_a_key_of_a_job_that_cannot_be_stored_is_rejected(db: Database, key: Any) -> None:
    @job(unique=lambda: key)
    async def send() -> None: ...

    async with running(db, send, workers=0):
        with pytest.raises(JobKeyInvalid, match=r"send\.enqueue: 'unique' returned"):
            await send.enqueue()
    assert await db.value("select count(*) from fx_jobs") == 0
