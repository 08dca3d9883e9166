from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from fxtrio.db import Database
from tests.db.engines import ENGINES, opened


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Each kind of database in turn."""
    kind: str = request.param
    return kind


@pytest.fixture
async def db(engine: str, tmp_path: Path) -> AsyncIterator[Database]:
    """An empty database with a table ``notes``, of each kind in turn."""
    with trio.fail_after(60):
        async with opened(engine, tmp_path) as database:
            await database.execute(
                "create table notes (id integer primary key, text text not null unique)"
            )
            yield database
