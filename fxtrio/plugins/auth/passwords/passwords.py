"""Passwords: their rules, and Argon2id hashes in separate threads."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import attrs
import trio

from fxtrio.errors import ExtraMissing
from fxtrio.limiters import limiter_of
from fxtrio.plugins.auth.errors import HashingBusy
from fxtrio.plugins.auth.passwords.hashes import (
    cost_of,
    cost_of_new,
    dummy_hash,
    is_bcrypt,
    is_cost,
    matches,
    require_library,
)
from fxtrio.plugins.auth.settings import Argon2Settings

if TYPE_CHECKING:
    from argon2 import PasswordHasher as Argon2

Answer = TypeVar("Answer")

MOST_COSTS = 4
"""Sets of parameters that every check computes (count)."""


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
    """Return why a new password is invalid; "" if it is valid.

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
        return "Do not use the email address as the password."
    return ""


@attrs.frozen
class Verification:
    """The outcome of checking a password."""

    correct: bool
    outdated: bool = False
    """Whether the hash was made with other parameters than today's."""


class PasswordHasher:
    """Hashes and verifies passwords. Created by `open_hasher`.

    ``threads`` hashes are computed at once and ``waiting`` more may wait: past that,
    HashingBusy. A check costs the same whether there is a hash or not, and whatever the hash
    has cost: it computes one for each set of parameters that accounts are known to have, so
    that nobody learns from the time who has an account, in the years after a change neither.
    """

    def __init__(self, argon2: Argon2, *, threads: int, waiting: int) -> None:
        self._argon2 = argon2
        self._limiter = trio.CapacityLimiter(threads)
        self._waiting = waiting
        today = cost_of_new(argon2)
        self._dummies = {today: dummy_hash(today)}
        """By cost: a hash of which nobody knows the password, and that has none."""

        self._computed = 0

    def expect(self, costs: Iterable[str]) -> None:
        """Take hashes with the beginnings ``costs`` for those of accounts, from now on.

        Raises ExtraMissing when what checks one of them is not installed.
        """
        for cost in costs:
            if is_cost(cost) and len(self._dummies) < MOST_COSTS:
                require_library(cost)
                self._dummies.setdefault(cost, dummy_hash(cost))

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
        own = "" if stored is None else cost_of(stored)
        self.expect((own,))
        checked = dict(self._dummies)
        if stored is not None and own:
            checked[own] = stored
        # All of them are computed, whichever is the right one.
        correct = [matches(self._argon2, encoded, password) for encoded in checked.values()]
        if stored is None or not own or not correct[[*checked].index(own)]:
            return Verification(correct=False)
        outdated = is_bcrypt(stored) or self._argon2.check_needs_rehash(stored)
        return Verification(correct=True, outdated=outdated)

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
    return await trio.to_thread.run_sync(make, limiter=limiter_of("accounts"))
