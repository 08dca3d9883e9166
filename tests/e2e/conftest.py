from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.support import Server, copy_example, fx, served


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def built_guestbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = copy_example("guestbook", tmp_path_factory.mktemp("examples"))
    fx("build", cwd=project)
    return project


@pytest.fixture
def guestbook(built_guestbook: Path, tmp_path: Path) -> Iterator[Server]:
    with served(built_guestbook, env={"GUESTBOOK": str(tmp_path / "book.sqlite3")}) as server:
        yield server
