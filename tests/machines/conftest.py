from __future__ import annotations

from tests.db.conftest import cluster

__all__ = ["cluster"]
