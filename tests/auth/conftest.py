from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.db.conftest import cluster, own_cluster, postgres_url

__all__ = ["cluster", "own_cluster", "postgres_url", "root"]

URLS = {"own-file": "", "file": "sqlite:///data/app.db"}


@pytest.fixture(params=[*URLS, "postgresql"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A project whose accounts are in a database of each kind in turn."""
    kind: str = request.param
    url = URLS[kind] if kind in URLS else request.getfixturevalue("postgres_url")
    (tmp_path / "fx.config.json").write_text(json.dumps({"database": {"url": url}}))
    return tmp_path
