from __future__ import annotations

from tests.db.conftest import cluster, postgres_url

__all__ = ["cluster", "postgres_url"]
