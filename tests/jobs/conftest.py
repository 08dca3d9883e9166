from __future__ import annotations

from tests.db.conftest import cluster, engine, own_cluster, postgres_url

__all__ = ["cluster", "engine", "own_cluster", "postgres_url"]
