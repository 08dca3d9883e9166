"""The stores that channels can go over, apart from the memory of one process. Pure.

`fxtrio.realtime.stores.<name>` is the store, whose ``open_store_broker`` `fxtrio.realtime.open`
calls, and the extra ``fxtrio[<name>]`` brings what it needs.
"""

from __future__ import annotations

import msgspec


class BrokerKind(msgspec.Struct, frozen=True):
    """One kind of store."""

    name: str
    schemes: tuple[str, ...]
    """Of the URLs that mean it."""

    package: str
    """What it needs, as Python imports it."""

    example: str


BROKERS = (
    BrokerKind("redis", ("redis", "rediss", "unix"), "coredis", "redis://localhost"),
    BrokerKind("postgres", ("postgresql", "postgres"), "psycopg", "postgresql://localhost/shop"),
)
EXAMPLES = " or ".join(repr(kind.example) for kind in BROKERS)


def broker_kind(url: str) -> BrokerKind | None:
    """Return the kind of store that ``url`` names; None for ``memory`` and unknown ones."""
    scheme, separator, _ = url.partition("://")
    return next((kind for kind in BROKERS if separator and scheme in kind.schemes), None)
