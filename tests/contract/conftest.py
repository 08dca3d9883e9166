from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import trio

from fx.testing import TestResponse
from tests.built import build, open_built
from tests.built_once import built_once
from tests.contract.servers import Observed, observe_workers

TOUR = Path(__file__).parent / "tour"
PATHS = (
    "/?name=Ann%20%3Cb%3E",
    "/broken/sold%20out%20%3Cb%3E",
    "/broken/division",
    "/head/both",
    "/head/element",
    "/head/list",
    "/head/plain",
    "/head/several",
    "/head/static",
    "/head/%3Cb%3E",
    "/index.md?name=Ann",
    "/notes/5.md",
    "/notes/5.md?as=html",
    "/nowhere",
)


@pytest.fixture(scope="session")
def tour(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project in `tour`, built once for all tests that render."""

    def make(project: Path) -> None:
        shutil.copytree(TOUR, project)
        build(project)

    return built_once(pytestconfig, "tour", tmp_path_factory.mktemp("contract") / "tour", make)


@pytest.fixture(scope="session")
def responses(tour: Path) -> dict[str, TestResponse]:
    """What the tour answers to a GET of each of `PATHS`, rendered by Node."""

    async def visit() -> dict[str, TestResponse]:
        async with open_built(tour) as client:
            return {path: await client.get(path) for path in PATHS}

    return trio.run(visit)


@pytest.fixture(scope="session")
def workers(tour: Path, tmp_path_factory: pytest.TempPathFactory) -> Observed:
    """What `fx serve --workers 2` did with the tour until it was stopped."""
    return trio.run(observe_workers, tour, tmp_path_factory.mktemp("workers"))
