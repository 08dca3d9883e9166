"""The models of the auth plugin: users, sessions, and reasons for a rejection.

Times are wall-clock seconds since 1970, so they mean the same after a restart.
"""

from __future__ import annotations

import attrs

from fxtrio.plugins.auth.errors import AuthStorageUnavailable, HashingBusy


@attrs.frozen(kw_only=True)
class User:
    """A user who can sign in; ``request.state.user``. Contains no secrets."""

    id: str
    """32 hex characters, random."""

    email: str
    """In lower case."""

    created_at: float


@attrs.frozen(kw_only=True)
class Account:
    """A user with the hash of the password. Never leaves the plugin."""

    user: User
    password_hash: str = attrs.field(repr=False)


@attrs.frozen(kw_only=True)
class Session:
    """A sign-in of one browser, as it is stored."""

    key: bytes = attrs.field(repr=False)
    """SHA-256 of the token in the cookie: it cannot be used to sign in."""

    user_id: str
    created_at: float

    expires_at: float
    """The end without further requests; never after ``ends_at``."""

    ends_at: float
    """The end whatever happens."""

    persistent: bool
    """Whether the cookie outlives the browser ("remember me")."""


@attrs.frozen(kw_only=True)
class PendingRegistration:
    """A registration whose address is not verified yet, as it is stored."""

    key: bytes = attrs.field(repr=False)
    """SHA-256 of the token in the link."""

    email: str
    password_hash: str = attrs.field(repr=False)
    expires_at: float


@attrs.frozen(kw_only=True)
class SignedIn:
    """A user with the session that proves it."""

    user: User
    session: Session
    token: str = attrs.field(repr=False)
    renew: bool = False
    """Whether the cookie must be sent again: a key signed it that is on its way out."""


@attrs.frozen(kw_only=True)
class Rejection:
    """Why a user is not signed in or registered. An expected outcome, not an error."""

    code: str
    """For programs and for ``?error=`` of pages: ``credentials``, ``throttled``, …"""

    message: str
    """For people. Says nothing about whether an address is known."""

    status: int
    fields: dict[str, list[str]] = attrs.field(factory=dict)
    retry_after: float | None = None
    """Seconds to wait before another attempt makes sense."""


BUSY = Rejection(code="busy", message="Try again in a moment.", status=503, retry_after=1)
"""The response to any request while the server is overloaded."""

_UNAVAILABLE = Rejection(
    code="unavailable",
    message="Accounts cannot be reached for now. Try again in a minute.",
    status=503,
    retry_after=60,
)


def rejection_of(error: HashingBusy | AuthStorageUnavailable) -> Rejection:
    """Return the rejection for a request that failed with ``error``."""
    return BUSY if isinstance(error, HashingBusy) else _UNAVAILABLE
