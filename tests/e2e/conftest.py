from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.built_once import built_once
from tests.e2e.support import Server, copy_example, fx, served


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def built_guestbook(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(folder: Path) -> None:
        fx("build", cwd=copy_example("guestbook", folder))

    folder = tmp_path_factory.mktemp("examples")
    return built_once(pytestconfig, "guestbook", folder, make) / "guestbook"


@pytest.fixture
def guestbook(built_guestbook: Path, tmp_path: Path) -> Iterator[Server]:
    with served(built_guestbook, env={"GUESTBOOK": str(tmp_path / "book.sqlite3")}) as server:
        yield server
