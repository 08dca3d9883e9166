"""`fx dev` runs migrations, and shows one that fails."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from tests.cli.test_dev_hosts import ask, developing
from tests.trees import page, write_tree

MIGRATION = "migrations/0001_notes.sql"
PAGE = """
    from fx.db import db

    @server
    async def load(request):
        return {"message": f"{await db.value('select count(*) from notes')} notes"}
    """
FILES = {
    "pages/index.fxl": page(PAGE),
    "fx.config.json": '{"database": {"url": "sqlite:///data/app.db"}}',
    MIGRATION: "create table notes (text tex, nonsense here;\n",
}


async def page_with(port: int, *parts: bytes) -> bytes:
    """Ask for the page until it has all the parts."""
    while True:
        answer = await ask(port, f"GET / HTTP/1.1\nHost: localhost:{port}")
        if all(part in answer for part in parts):
            return answer
        await trio.sleep(0.1)


@pytest.mark.node
async def test_the_overlay_shows_a_failed_migration_until_it_is_corrected(tmp_path: Path) -> None:
    write_tree(tmp_path, FILES)
    with trio.fail_after(120):
        async with developing(tmp_path) as port:
            answer = await page_with(port, MIGRATION.encode())
            assert answer.startswith(b"HTTP/1.1 500 ")
            assert b"It was rolled back" in answer
            (tmp_path / MIGRATION).write_text("create table notes (text text);\n")
            assert (await page_with(port, b"0 notes")).startswith(b"HTTP/1.1 200 ")
