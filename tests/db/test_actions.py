"""`@action(transaction=True)`: all of it is committed, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from trio.testing import MockClock

from fx.db import db
from fx.testing import open_app
from tests.trees import page, write_tree

PAGE = """
    import trio
    from fx.db import db
    from fx.runtime import redirect

    @server
    async def load(request):
        assert not db.in_transaction
        return {"count": await db.value("select count(*) from notes")}

    @action(transaction=True, timeout=5)
    async def add(request):
        how = (await request.json())["how"]
        await db.execute("insert into notes values ('a')")
        if how == "refuse":
            raise ActionError("No.", 409)
        if how == "break":
            raise KeyError("broken")
        if how == "late":
            await trio.sleep(10)
        if how == "nothing":
            return None
        if how == "redirect":
            raise redirect("/there")
        if how == "nursery":
            async with trio.open_nursery():
                raise redirect("/there")
        return {}

    @action(transaction=True)
    async def ask_nothing(request):
        return {"in_transaction": db.in_transaction}
    """


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "pages/index.fxl": page(PAGE),
        "fx.config.json": '{"database": {"url": "sqlite:///data/app.db"}}',
        "migrations/0001_notes.sql": "create table notes (text text);",
    }
    return write_tree(tmp_path, files)


@pytest.mark.parametrize(
    ("how", "status", "stored"),
    [
        ("return", 200, 1),
        ("redirect", 200, 1),
        ("nursery", 200, 1),
        ("refuse", 409, 0),
        ("break", 500, 0),
        ("late", 504, 0),
        ("nothing", 500, 0),
    ],
)
async def test_an_action_is_committed_or_rolled_back(
    root: Path, autojump_clock: MockClock, how: str, status: int, stored: int
) -> None:
    async with open_app(root) as client:
        result = await client.action("/", "add", {"how": how})

        assert result.status == status
        assert await db.value("select count(*) from notes") == stored


async def test_the_transaction_ends_before_a_page_is_rendered(root: Path) -> None:
    async with open_app(root) as client:
        url = "/api/__actions/index/add"
        form = {"accept": "text/html"}
        rejected = await client.post(url, data={"how": "refuse"}, headers=form)
        committed = await client.post(url, data={"how": "return"}, headers=form)

        assert (rejected.status, committed.status) == (409, 303)
        assert (await client.load_page("/")).data == {"count": 1}


async def test_one_that_asks_nothing_takes_no_connection(root: Path) -> None:
    async with open_app(root) as client, db.transaction():
        await db.execute("insert into notes values ('a')")  # holds the one connection
        assert (await client.action("/", "ask_nothing", {})).data["in_transaction"] is True
