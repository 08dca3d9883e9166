"""Passwords: what may be one, and Argon2id hashes in threads of their own."""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import attrs
import trio

from fxtrio.errors import ExtraMissing
from fxtrio.plugins.auth.failures import HashingBusy
from fxtrio.plugins.auth.settings import Argon2Settings

if TYPE_CHECKING:
    from argon2 import PasswordHasher as Argon2

Answer = TypeVar("Answer")


def normalize_password(password: str) -> str | None:
    """Return the one form of a password that keyboards spell in several (NFKC).

    None for text that is no Unicode: such a password cannot exist.
    """
    try:
        password.encode()
    except UnicodeEncodeError:  # a lone surrogate, from JSON
        return None
    return unicodedata.normalize("NFKC", password)


def password_problem(password: str, *, shortest: int, longest: int, email: str) -> str:
    """Return what is wrong with a new password, "" when nothing is.

    Lengths count characters, spaces too; there are no rules about their kinds.
    """
    normal = normalize_password(password) if len(password) <= longest else password
    if normal is None:
        return "This is not text."
    if len(normal) < shortest:
        return f"Use at least {shortest} characters."
    if len(normal) > longest:
        return f"Use at most {longest} characters."
    if normal.casefold() == email.casefold():
        return "Use something else than the email address."
    return ""


@attrs.frozen
class Verification:
    """The outcome of checking a password."""

    correct: bool
    outdated: bool = False
    """Whether the hash was made with other parameters than today's."""


class PasswordHasher:
    """Hashes and checks passwords. Made by `open_hasher`.

    ``threads`` hashes are computed at once and ``waiting`` more may wait: past that,
    HashingBusy. A check costs the same whether there is a hash or not.
    """

    def __init__(self, argon2: Argon2, *, threads: int, waiting: int) -> None:
        self._argon2 = argon2
        self._limiter = trio.CapacityLimiter(threads)
        self._waiting = waiting
        # Nobody knows the password of this hash; it stands in where there is none.
        self._dummy = argon2.hash(secrets.token_urlsafe(32))
        self._computed = 0

    @property
    def computed(self) -> int:
        """How many hashes have been computed, for checks as well (count)."""
        return self._computed

    async def hash(self, password: str) -> str:
        """Return the encoded hash, with its parameters and a random salt of its own."""
        return await self._compute(partial(self._argon2.hash, password))

    async def verify(self, stored: str | None, password: str) -> Verification:
        """Check a password against a stored hash, or in vain when there is none."""
        return await self._compute(partial(self._verify, stored, password))

    def _verify(self, stored: str | None, password: str) -> Verification:
        from argon2.exceptions import InvalidHashError, VerificationError

        try:
            self._argon2.verify(stored or self._dummy, password)
        except (VerificationError, InvalidHashError):
            return Verification(correct=False)
        if stored is None:
            return Verification(correct=False)
        return Verification(correct=True, outdated=self._argon2.check_needs_rehash(stored))

    async def _compute(self, work: Callable[[], Answer]) -> Answer:
        if self._limiter.statistics().tasks_waiting >= self._waiting:
            raise HashingBusy(self._waiting)
        self._computed += 1
        return await trio.to_thread.run_sync(work, limiter=self._limiter)


async def open_hasher(settings: Argon2Settings, *, threads: int, waiting: int) -> PasswordHasher:
    """Return a hasher with Argon2id. Raises ExtraMissing without argon2-cffi."""
    try:
        from argon2 import PasswordHasher as Argon2
    except ImportError as error:
        raise ExtraMissing("the auth plugin", "auth", "argon2-cffi") from error
    argon2 = Argon2(
        time_cost=settings.time_cost,
        memory_cost=settings.memory_kib,
        parallelism=settings.parallelism,
    )
    make = partial(PasswordHasher, argon2, threads=threads, waiting=waiting)
    return await trio.to_thread.run_sync(make)
