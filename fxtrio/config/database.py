"""The ``database`` section of the settings."""

from __future__ import annotations

from typing import Annotated, Literal

from fxtrio.config import validators
from fxtrio.config.section import Section


class DatabaseConfig(Section, frozen=True, kw_only=True):
    """The ``database`` section: what `fx.db` speaks to."""

    hidden = ("url",)

    url: Annotated[str, validators.database] = ""
    """``sqlite:///data/app.db`` (a file of the project), ``postgresql://…``, or none."""

    pool: Annotated[int, validators.at_least(1)] = 10
    """Connections for each server process; those that read, in SQLite (count)."""

    migrate: Literal["refuse", "run"] = "refuse"
    """What a server does about migrations that have not been run; `fx dev` runs them."""

    migration_lock_timeout: Annotated[float, validators.at_least(0)] = 5.0
    """How long a migration waits for a lock of PostgreSQL; 0: for ever (seconds)."""

    waiters: Annotated[int, validators.at_least(1)] = 100
    """How many may wait for a connection; one more raises DatabaseBusy (count)."""

    slow: Annotated[float, validators.at_least(0)] = 0.0
    """A statement that takes longer is logged, with its place; 0 logs none (seconds)."""

    prepare: bool = True
    """Whether PostgreSQL keeps statements prepared; not behind a pooler of transactions."""

    connect_timeout: Annotated[float, validators.positive_seconds] = 10.0
    """How long PostgreSQL has to accept a connection (seconds)."""

    max_lifetime: Annotated[float, validators.positive_seconds] = 1800.0
    """A connection to PostgreSQL that is older is replaced when it comes back (seconds)."""

    tcp_user_timeout: Annotated[float, validators.at_least(0)] = 15.0
    """How long what was sent may stay unacknowledged; 0 leaves it to the system (seconds)."""

    keepalive_idle: Annotated[int, validators.at_least(0)] = 15
    """Silence after which each side asks whether the other is there; 0: the system's (seconds)."""

    keepalive_interval: Annotated[int, validators.at_least(0)] = 5
    """Time between two such questions; 0: the system's (seconds)."""

    keepalive_count: Annotated[int, validators.at_least(0)] = 3
    """Questions without an answer that end a connection; 0: the system's (count)."""

    idle_transaction_timeout: Annotated[float, validators.at_least(0)] = 60.0
    """PostgreSQL ends a transaction that is idle for so long; 0: never (seconds)."""
