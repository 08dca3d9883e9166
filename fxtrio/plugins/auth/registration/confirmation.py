"""Registration with verified mail: an account is created once its address is confirmed.

Until then there is no account, so neither the response nor a login reveals whether an
address has one: only the mail to its owner does.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

import attrs

from fxtrio.plugins.auth.attempts import LimitedAttempts
from fxtrio.plugins.auth.models import PendingRegistration, Rejection, User
from fxtrio.plugins.auth.passwords.passwords import PasswordHasher
from fxtrio.plugins.auth.registration.mail import Email, taken, verification
from fxtrio.plugins.auth.registration.on_register import Beginning
from fxtrio.plugins.auth.sessions.tokens import key_of, new_token
from fxtrio.plugins.auth.settings import HOUR, AuthSettings
from fxtrio.plugins.auth.storage.interface import AuthStorage
from fxtrio.plugins.auth.throttle import Bucket

MAILS = 5
"""Mails to one address in a day; further ones are silently not sent (count)."""

_OVER = Rejection(code="link", message="This link is no longer valid. Register again.", status=410)
_WRONG = Rejection(code="credentials", message="The password is wrong.", status=401)


@attrs.frozen(kw_only=True, eq=False)
class Registration:
    """The registrations of one app. ``post`` hands a mail over to a job."""

    settings: AuthSettings
    storage: AuthStorage
    hasher: PasswordHasher
    attempts: LimitedAttempts
    clock: Callable[[], float]
    site: str
    """Where the app is, with the base URL: ``https://example.org/app``."""

    post: Callable[[Email], Awaitable[None]]
    beginning: Beginning | None = None

    async def begin(self, address: str, password_hash: str) -> None:
        """Store the registration, and send a mail. Known and unknown addresses cost the same."""
        token = new_token()
        expires_at = self.clock() + self.settings.verify_timeout
        pending = PendingRegistration(
            key=key_of(token), email=address, password_hash=password_hash, expires_at=expires_at
        )
        is_taken = await self.storage.find_account(address) is not None
        # For a taken address it is stored as well, and its token is never sent.
        await self.storage.add_pending(pending, self.clock())
        key = hashlib.sha256(address.encode()).hexdigest()
        if await self.attempts.charge([Bucket(f"mail:{key}", MAILS, 24 * HOUR / MAILS)]) is None:
            settings = self.settings
            link = f"{self.site}{settings.verify_path}?token={quote(token)}"
            login = f"{self.site}{settings.login_path}"
            await self.post(taken(address, login) if is_taken else verification(address, link))

    async def confirm(
        self, token: str, secret: str, fields: Mapping[str, Any], *, is_form: bool
    ) -> Rejection | None:
        """Create the account of a link, with the password that was chosen for it.

        A link alone is worthless: else a person who registers another's address would get an
        account that its owner has confirmed. The link then becomes invalid. None on success.
        Raises the errors of the app's function, and ValidationActionError for its ``fields``.
        """
        beginning = self.beginning
        field_values = () if beginning is None else beginning.read(fields, is_form=is_form)
        key = key_of(token)
        limit = Bucket(f"confirm:{key.hex()}", self.settings.login_attempts, HOUR)
        async with self.attempts.admit([limit]) as rejection:
            if rejection is not None:
                return rejection
            pending = await self.storage.find_pending(key, self.clock())
            stored = None if pending is None else pending.password_hash
            verification = await self.hasher.verify(stored, secret)
            if pending is None:
                return _OVER
            if not verification.correct:
                return _WRONG
            user = User(id=secrets.token_hex(16), email=pending.email, created_at=self.clock())
            keep = partial(self.storage.confirm, pending, user)
            is_stored = await (
                keep() if beginning is None else beginning.keep(user, keep, field_values)
            )
            return None if is_stored else _OVER
