"""A fresh project that `fx dev` serves, for tests with a real browser."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.cli.shared_dev import SharedDev
from tests.e2e.support import Server, fx, serving
from tests.ports import free_port


@pytest.fixture
def settings() -> str:
    """Return the settings of the project; "" for its own."""
    return ""


@pytest.fixture(scope="session")
def shared_dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedDev]:
    """One `fx dev` for all tests of a process that are marked so: a new one costs 4 CPU-seconds."""
    shared = SharedDev(tmp_path_factory.mktemp("shared"))
    yield shared
    shared.stop()


@pytest.fixture
def dev(
    request: pytest.FixtureRequest, tmp_path: Path, settings: str
) -> Iterator[tuple[Path, Server | None]]:
    """A project, and the server that has begun to serve it, if there is one for several tests."""
    if settings or request.node.get_closest_marker("shared_dev") is None:
        fx("init", "shop", cwd=tmp_path)
        if settings:
            (tmp_path / "shop/fx.config.json").write_text(settings, "utf-8")
        yield tmp_path / "shop", None
        return
    shared: SharedDev = request.getfixturevalue("shared_dev")
    chromium: Browser = request.getfixturevalue("chromium")
    server = shared.start()
    yield shared.project, server
    for context in chromium.contexts:  # before they follow what is restored
        context.close()
    shared.restore()


@pytest.fixture
def project(dev: tuple[Path, Server | None]) -> Path:
    return dev[0]


@pytest.fixture
def server(project: Path, request: pytest.FixtureRequest) -> Iterator[Server]:
    shared = request.getfixturevalue("dev")[1] if "dev" in request.fixturenames else None
    if shared is not None:
        yield shared
        return
    port = free_port()
    command = [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)]
    with serving(command, project, port) as running:
        yield running
