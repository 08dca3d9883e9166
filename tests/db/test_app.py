"""The database of a running app."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from fx.db import DatabaseNotConfigured, db
from fx.testing import open_app
from fxtrio.config import load_config
from tests.trees import page, write_tree

PAGE = """
    from fx.db import db, DatabaseBusy

    @server
    async def load(request):
        if "busy" in request.query_params:
            raise DatabaseBusy("all are busy")
        return {"count": await db.value("select count(*) from notes")}

    @action
    async def add(request):
        if "busy" in request.query_params:
            raise DatabaseBusy("all are busy")
        async with db.transaction():
            await db.execute("insert into notes values ('a')")
        return {}
    """
SETUP = "create table notes (text text)"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    api = """
        from fx.db import DatabaseBusy

        async def get(request):
            raise DatabaseBusy("all are busy")
        """
    config = '{"database": {"url": "sqlite:///data/app.db"}}'
    files = {"pages/index.fxl": page(PAGE), "fx.config.json": config, "pages/api/busy.py": api}
    return write_tree(tmp_path, files)


async def test_every_test_has_a_database_of_its_own(root: Path, autojump_clock: MockClock) -> None:
    for _ in range(2):
        async with open_app(root) as client:
            await db.execute(SETUP)
            assert (await client.action("/", "add", {})).ok
            assert (await client.load_page("/")).data == {"count": 1}
    assert trio.current_time() == 0
    assert not (root / "data").exists()


async def test_busy_is_a_503_that_says_when_to_come_again(root: Path) -> None:
    async with open_app(root) as client:
        answers = [
            await client.get("/?busy"),
            await client.get("/api/busy"),
            await client.get("/?busy", headers={"x-fx-navigation": "1"}),
            await client.post("/api/__actions/index/add?busy", json={}),
        ]
    assert [answer.status for answer in answers] == [503] * 4
    assert [answer.headers["retry-after"] for answer in answers] == ["1"] * 4


async def test_without_a_database_the_setting_is_named(root: Path) -> None:
    with pytest.raises(DatabaseNotConfigured, match="no app of fxtrio runs here"):
        await db.value("select 1")
    async with open_app(root, database__url=""):
        with pytest.raises(DatabaseNotConfigured, match=r"Set 'database\.url'"):
            await db.value("select 1")


async def test_a_transaction_that_is_held_is_named_in_development(
    root: Path, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_app(root):
        async with db.transaction():
            await trio.sleep(2.5)
        assert not caplog.messages  # it held no connection
        async with db.transaction():
            await db.value("select 1")
            await trio.sleep(2.5)
    assert "a transaction lasted 2.5 s" in caplog.text and "test_app.py:" in caplog.text


@pytest.mark.parametrize("url", ["mysql://x", "sqlite:/x", "mariadb://me:secret@x/y", "data.db"])
def test_a_url_of_an_unknown_kind_is_rejected_without_its_password(
    tmp_path: Path, url: str
) -> None:
    with pytest.raises(Exception, match=r"sqlite:///data/app\.db") as caught:
        load_config(tmp_path, environ={}, database__url=url)
    assert "secret" not in str(caught.value)
