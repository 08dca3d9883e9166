"""Accounts, for code of the application: create, find, change and delete them.

The calling code must authorize the operation; attempts are not counted here.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

import attrs
from starlette.requests import HTTPConnection
from starlette.types import Scope

from fxtrio.plugins.auth.models import User
from fxtrio.plugins.auth.passwords.credentials import canonical_email, credential_problems
from fxtrio.plugins.auth.passwords.hashes import KINDS, cost_of
from fxtrio.plugins.auth.passwords.passwords import PasswordHasher, normalize_password
from fxtrio.plugins.auth.registration.on_register import Beginning
from fxtrio.plugins.auth.sessions.session_cache import SessionCache
from fxtrio.plugins.auth.sessions.sockets import SessionSockets
from fxtrio.plugins.auth.sessions.tokens import CookieRules, CookieSigner, key_of
from fxtrio.plugins.auth.settings import AuthSettings
from fxtrio.plugins.auth.storage.interface import AuthStorage

log = logging.getLogger("fx.auth")

Clock = Callable[[], float]
"""Returns seconds since 1970."""


@attrs.frozen(kw_only=True, eq=False)
class Accounts:
    """The accounts of one app. ``user`` is a `User` or its id."""

    settings: AuthSettings
    storage: AuthStorage
    hasher: PasswordHasher
    signer: CookieSigner
    rules: CookieRules
    clock: Clock
    sockets: SessionSockets
    session_cache: SessionCache

    async def add_user(self, email: str, password: str) -> User | None:
        """Create a user, without a limit on attempts; None if the address is taken.

        For scripts and administrators. The password is hashed either way. Raises
        ValueError for an address or a password that cannot be used.
        """
        address = canonical_email(email)
        problems = credential_problems(self.settings, address, password)
        if problems:
            raise ValueError("; ".join(f"{key}: {text[0]}" for key, text in problems.items()))
        return await self._add(str(address), password)

    async def import_user(self, email: str, password_hash: str) -> User | None:
        """Keep a user of another system with the hash of the password; None when it is taken.

        The first login replaces the hash by one of the plugin's own. Raises ValueError for an
        address that cannot be used and for a hash of another kind than `KINDS`, and ExtraMissing
        without the library that checks it.
        """
        address, cost = canonical_email(email), cost_of(password_hash)
        if address is None:
            raise ValueError("email: This is not an email address.")
        if not cost:
            shortened = password_hash[:8] + "…" if len(password_hash) > 8 else password_hash
            raise ValueError(f"password_hash: {shortened!r} is not a hash of {KINDS}.")
        self.hasher.expect((cost,))
        return await self._keep(address, password_hash)

    async def find_user(self, *, id: str | None = None, email: str | None = None) -> User | None:
        """Return the user with an id or with an address; None when there is none."""
        if (id is None) == (email is None):
            raise TypeError("find_user() takes one of 'id' and 'email'.")
        if id is not None:
            return await self.storage.find_user(id)
        account = await self.storage.find_account(canonical_email(email) or "")
        return None if account is None else account.user

    async def change_email(self, user: User | str, email: str) -> bool:
        """Change a user's address; sessions continue.

        False if another user has it, or the user does not exist. Raises ValueError for an
        invalid address. The caller must have verified that the user owns it.
        """
        address = canonical_email(email)
        if address is None:
            raise ValueError("email: This is not an email address.")
        changed = await self.storage.set_email(_id_of(user), address)
        if changed:
            self.storage.after_commit(self.session_cache.forget)
            log.info("user %s has another address", _id_of(user))
        return changed

    async def set_password(
        self, user: User | str, password: str, *, keep: HTTPConnection | None = None
    ) -> None:
        """Replace a user's password and end every session of the user.

        The session of the request ``keep`` continues. The caller must authorize the change.
        Raises ValueError for an invalid password, and for an unknown id.
        """
        known = user if isinstance(user, User) else await self.find_user(id=user)
        if known is None:
            raise ValueError(f"there is no user with the id {user!r}")
        problems = credential_problems(self.settings, known.email, password)
        if problems:
            raise ValueError(problems["password"][0])
        await self._replace_password(known.id, password, keep=keep)

    async def remove_user(self, user: User | str) -> bool:
        """Delete a user and all sessions of the user; False if there was none."""
        user_id = _id_of(user)
        removed = await self.storage.remove_user(user_id)
        self._end_here(user_id=user_id)
        if removed:
            log.info("user %s removed", user_id)
        return removed

    async def log_out_everywhere(self, user: User | str) -> int:
        """End every session of a user, on every device; return how many there were."""
        user_id = _id_of(user)
        ended = await self.storage.end_sessions(user_id)
        self._end_here(user_id=user_id)
        log.info("user %s: all %d sessions ended", user_id, ended)
        return ended

    def token_of(self, scope: Scope) -> str | None:
        """Return the token of a connection's cookie; None without one that this app has signed."""
        cookie = self.signer.read(self.rules.read(scope["headers"], scope["scheme"]))
        return None if cookie is None else cookie.token

    def _end_here(
        self,
        *,
        key: bytes | None = None,
        user_id: str | None = None,
        keeps: bytes | None = None,
    ) -> None:
        """Notify this process of ended sessions, after the commit."""

        def end() -> None:
            self.session_cache.forget()
            self.sockets.end(key=key, user_id=user_id, keeps=keeps)

        self.storage.after_commit(end)

    async def _add(
        self,
        address: str,
        password: str,
        beginning: Beginning | None = None,
        field_values: tuple[Any, ...] = (),
    ) -> User | None:
        hashed = await self.hasher.hash(normalize_password(password) or "")
        return await self._keep(address, hashed, beginning, field_values)

    async def _keep(
        self,
        address: str,
        password_hash: str,
        beginning: Beginning | None = None,
        field_values: tuple[Any, ...] = (),
    ) -> User | None:
        user = User(id=secrets.token_hex(16), email=address, created_at=self.clock())
        keep = partial(self.storage.add_user, user, password_hash)
        if not await (keep() if beginning is None else beginning.keep(user, keep, field_values)):
            log.info("an address that is taken was registered again")
            return None
        log.info("user %s registered", user.id)
        return user

    async def _replace_password(
        self,
        user_id: str,
        password: str,
        *,
        known: str | None = None,
        keep: HTTPConnection | None = None,
    ) -> bool:
        """Keep the hash of a password and end all sessions; False when it is not ``known`` now."""
        token = None if keep is None else self.token_of(keep.scope)
        keeps = None if token is None else key_of(token)
        fresh = await self.hasher.hash(normalize_password(password) or "")
        ended = await self.storage.set_password(user_id, fresh, replaces=known, keeps=keeps)
        if ended is None:
            return False
        self._end_here(user_id=user_id, keeps=keeps)
        log.info("user %s: the password has changed, %d sessions ended", user_id, ended)
        return True


def _id_of(user: User | str) -> str:
    return user if isinstance(user, str) else user.id
