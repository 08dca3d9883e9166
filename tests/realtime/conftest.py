from __future__ import annotations

from tests.realtime.stores import store, store_cluster

__all__ = ["store", "store_cluster"]
