from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import trio

from fxtrio.db import Database
from tests.db.cluster import Cluster, running_cluster
from tests.db.engines import ENGINES, opened


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL for all tests."""
    with running_cluster() as running:
        yield running


@pytest.fixture
def own_cluster() -> Iterator[Cluster]:
    """A PostgreSQL that a test may stop."""
    with running_cluster() as running:
        yield running


@pytest.fixture
def postgres_url(cluster: Cluster) -> Iterator[str]:
    """The URL of an empty database in it."""
    url = cluster.new_database()
    yield url
    cluster.drop(url)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Each kind of database in turn: "memory", "file", or a URL."""
    kind: str = request.param
    if kind == "postgresql":
        url: str = request.getfixturevalue("postgres_url")
        return url
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
