from __future__ import annotations

from tests.realtime.stores import store

__all__ = ["store"]
