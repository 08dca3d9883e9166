"""The protocol between the auth plugin and the storage of its data.

`fxtrio.plugins.auth.storage.sql_storage` is the included one. Every method is one transaction, or a
part of the application's current one. Times come from the caller: a storage reads no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

import attrs

from fxtrio.plugins.auth.models import Account, PendingRegistration, Session, User
from fxtrio.plugins.auth.throttle import Marks

Answer = TypeVar("Answer")


@attrs.frozen
class StorageStatistics:
    """Statistics of a storage since it was opened."""

    queries: int
    """Calls of methods of `AuthStorage`; each is one transaction."""


class AuthStorage(Protocol):
    """Keeps users, sessions and the marks of the throttle.

    Every method raises AuthStorageUnavailable when it cannot read or write for now.
    """

    async def add_user(self, user: User, password_hash: str) -> bool:
        """Keep a new user; False, and nothing else, when the email is taken."""

    async def password_costs(self) -> tuple[str, ...]:
        """Return the beginnings of all hashes, up to their salts; a few where there are many."""

    async def find_account(self, email: str) -> Account | None:
        """Return the account of an email (already in its canonical form)."""

    async def find_user(self, user_id: str) -> User | None:
        """Return a user."""

    async def set_email(self, user_id: str, email: str) -> bool:
        """Give a user another email (in its canonical form); False when that cannot be.

        Then another user has it, or there is no such user.
        """

    async def rehash(self, account: Account, password_hash: str) -> bool:
        """Keep another hash of the same password; False when the password has changed since."""

    async def set_password(
        self,
        user_id: str,
        password_hash: str,
        *,
        replaces: str | None = None,
        keeps: bytes | None = None,
    ) -> int | None:
        """Replace the hash of a user's password, and end all sessions; return how many.

        The session with the key ``keeps`` goes on. None, and nothing else, when the hash is
        not ``replaces`` any more.
        """

    async def remove_user(self, user_id: str) -> bool:
        """Forget a user, with all sessions; False when there is none."""

    async def add_session(
        self, session: Session, *, proof: str, replaces: bytes | None, most: int
    ) -> bool:
        """Store a session, and end the one with the key ``replaces``.

        False, and nothing else, when the hash of the user's password is not ``proof``, by
        which the user was let in: it has changed since, or the user is gone.

        Drops sessions that were over at ``session.created_at``, and the user's oldest
        above ``most``. No other session ends after this one would: only a clock that has
        gone back could have made such an end.
        """

    async def find_session(self, key: bytes, now: float) -> tuple[Session, User] | None:
        """Return a session that is not over at ``now``, with its user."""

    async def extend_session(self, key: bytes, expires_at: float, ends_at: float) -> None:
        """Move the end of a session, if it still exists; its last end only to an earlier time."""

    async def live_sessions(self, keys: Sequence[bytes], now: float) -> Mapping[bytes, float]:
        """Return the ends of those sessions of ``keys`` that are not over at ``now``."""

    async def version(self) -> int:
        """Return a number that changes when anybody has ended or moved a session."""

    def after_commit(self, call: Callable[[], object]) -> None:
        """Call ``call`` after the commit: at once outside of a transaction."""

    async def end_session(self, key: bytes) -> None:
        """End one session; no matter if it is over already."""

    async def end_sessions(self, user_id: str) -> int:
        """End all sessions of a user; return how many there were."""

    async def change_marks(
        self,
        keys: Sequence[str],
        change: Callable[[Marks], tuple[Marks, Answer]],
        now: float,
    ) -> Answer:
        """Read the marks of ``keys``, keep those ``change`` returns, and return its answer.

        Nobody else changes them in between, in this process or another. Marks up to ``now``
        mean nothing: they are not handed in, and are dropped. ``change`` must be pure. Raises
        AuthInTransaction within a transaction, which could forget what it counts.
        """

    async def add_pending(self, pending: PendingRegistration, now: float) -> None:
        """Keep a registration, and drop those that were over at ``now``."""

    async def find_pending(self, key: bytes, now: float) -> PendingRegistration | None:
        """Return a registration that is not over at ``now``."""

    async def confirm(self, pending: PendingRegistration, user: User) -> bool:
        """Turn a registration into a user, and drop all others of the address.

        False, and nothing else, when it is not kept any more or the email is taken.
        """

    def statistics(self) -> StorageStatistics:
        """Return the statistics so far."""
