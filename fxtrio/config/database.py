"""The ``database`` section of the settings."""

from __future__ import annotations

from typing import Literal

import attrs

from fxtrio.config import validators


@attrs.frozen(kw_only=True)
class DatabaseConfig:
    """The ``database`` section: what `fx.db` speaks to."""

    url: str = attrs.field(default="", repr=False, validator=validators.database)
    """``sqlite:///data/app.db`` (a file of the project), ``postgresql://…``, or none."""

    pool: int = attrs.field(default=10, validator=validators.at_least(1))
    """Connections for each server process; those that read, in SQLite (count)."""

    migrate: Literal["refuse", "run"] = "refuse"
    """What a server does about migrations that have not been run; `fx dev` runs them."""

    migration_lock_timeout: float = attrs.field(default=5.0, validator=validators.at_least(0))
    """How long a migration waits for a lock of PostgreSQL; 0: for ever (seconds)."""

    waiters: int = attrs.field(default=100, validator=validators.at_least(1))
    """How many may wait for a connection; one more raises DatabaseBusy (count)."""

    slow: float = attrs.field(default=0.0, validator=validators.at_least(0))
    """A statement that takes longer is logged, with its place; 0 logs none (seconds)."""

    prepare: bool = True
    """Whether PostgreSQL keeps statements prepared; not behind a pooler of transactions."""

    connect_timeout: float = attrs.field(default=10.0, validator=validators.positive_seconds)
    """How long PostgreSQL has to accept a connection (seconds)."""

    max_lifetime: float = attrs.field(default=1800.0, validator=validators.positive_seconds)
    """A connection to PostgreSQL that is older is replaced when it comes back (seconds)."""

    tcp_user_timeout: float = attrs.field(default=15.0, validator=validators.at_least(0))
    """How long what was sent may stay unacknowledged; 0 leaves it to the system (seconds)."""

    keepalive_idle: int = attrs.field(default=15, validator=validators.at_least(0))
    """Silence after which each side asks whether the other is there; 0: the system's (seconds)."""

    keepalive_interval: int = attrs.field(default=5, validator=validators.at_least(0))
    """Time between two such questions; 0: the system's (seconds)."""

    keepalive_count: int = attrs.field(default=3, validator=validators.at_least(0))
    """Questions without an answer that end a connection; 0: the system's (count)."""

    idle_transaction_timeout: float = attrs.field(default=60.0, validator=validators.at_least(0))
    """PostgreSQL ends a transaction that is idle for so long; 0: never (seconds)."""
