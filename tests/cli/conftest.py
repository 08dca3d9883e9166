"""A fresh project that `fx dev` serves, for tests with a real browser."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.support import Server, fx, serving
from tests.ports import free_port


@pytest.fixture
def settings() -> str:
    """Return the settings of the project; "" for its own."""
    return ""


@pytest.fixture
def project(tmp_path: Path, settings: str) -> Path:
    fx("init", "shop", cwd=tmp_path)
    if settings:
        (tmp_path / "shop/fx.config.json").write_text(settings, "utf-8")
    return tmp_path / "shop"


@pytest.fixture
def server(project: Path) -> Iterator[Server]:
    port = free_port()
    command = [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)]
    with serving(command, project, port) as running:
        yield running
