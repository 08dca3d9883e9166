from __future__ import annotations

from tests.db.conftest import cluster, engine, postgres_url

__all__ = ["cluster", "engine", "postgres_url"]
