"""Rows of the tables of accounts, by the columns that `sql_storage` reads."""

from __future__ import annotations

import attrs


@attrs.frozen
class MarkRow:
    """When a bucket of the throttle is empty."""

    key: str
    empty_at: float


@attrs.frozen
class SessionRow:
    """A session with its user, as the columns of a query."""

    user_id: str
    email: str
    joined_at: float
    created_at: float
    expires_at: float
    ends_at: float
    persistent: int


@attrs.frozen
class CostRow:
    """The beginning of a hash, which has its parameters."""

    cost: str


@attrs.frozen
class AccountRow:
    """A user with the hash, as the columns of a query."""

    id: str
    email: str
    created_at: float
    password_hash: str
