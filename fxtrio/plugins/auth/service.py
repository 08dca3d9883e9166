"""Signing in and out: the rules, between the endpoints and the storage.

Reached as ``app.plugins["auth"]``, and by `get_auth` from anywhere in a request.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import attrs
from starlette.requests import HTTPConnection
from starlette.types import Scope

from fxtrio.app_handle import get_app
from fxtrio.asgi_extensions import url_of_root
from fxtrio.errors import ActionError, TaskQueueFull
from fxtrio.plugins.auth.accounts import Accounts
from fxtrio.plugins.auth.attempts import LimitedAttempts
from fxtrio.plugins.auth.errors import AuthNotInstalled, AuthStorageUnavailable, HashingBusy
from fxtrio.plugins.auth.models import (
    BUSY,
    Account,
    Rejection,
    Session,
    SignedIn,
    User,
    rejection_of,
)
from fxtrio.plugins.auth.passwords.credentials import (
    canonical_email,
    credential_problems,
    readable_password,
)
from fxtrio.plugins.auth.passwords.passwords import normalize_password
from fxtrio.plugins.auth.registration.confirmation import Registration
from fxtrio.plugins.auth.registration.on_register import Beginning
from fxtrio.plugins.auth.sessions.pending_revocations import PendingRevocations
from fxtrio.plugins.auth.sessions.tokens import key_of, new_token
from fxtrio.plugins.auth.throttle import Bucket, client_of

log = logging.getLogger("fx.auth")

LONGEST_TOKEN = 100
"""Longest token of a link (characters); ours are shorter."""

_RENEW_AFTER = 0.1
"""Part of the idle time after which a request writes the new end of its session."""

_WRONG = Rejection(
    code="credentials", message="The email address or the password is wrong.", status=401
)
_WRONG_CURRENT = attrs.evolve(_WRONG, message="The current password is wrong.")
_NO_FIELDS: Mapping[str, Any] = MappingProxyType({})

_CLOSED = Rejection(code="closed", message="Registration is closed.", status=403)


@attrs.frozen(kw_only=True, eq=False)
class AuthService(Accounts):
    """Signs users in and out. Created by `AuthPlugin`; valid while the app runs."""

    attempts: LimitedAttempts
    pending_revocations: PendingRevocations
    beginning: Beginning | None = None
    """The app's function for new accounts."""

    registration: Registration | None = None
    """How accounts begin where mail is verified."""

    async def register(
        self,
        email: object,
        password: object,
        *,
        client: str | None = None,
        fields: Mapping[str, Any] = _NO_FIELDS,
        is_form: bool = False,
    ) -> Rejection | None:
        """Register a user; None on success, and also if the address is taken.

        Neither the response nor its time reveals which, so clients cannot find out who has an
        account. Signing in is a separate step; with ``verifyEmail`` the account is created by
        `confirm`. ``fields`` are for the function of ``onRegister``; those of a form
        (``is_form``) are text.
        """
        if not self.settings.registration:
            return _CLOSED
        address = canonical_email(email)
        wrong = credential_problems(self.settings, address, password)
        beginning = self.beginning if self.registration is None else None
        field_values: tuple[Any, ...] = ()
        try:
            field_values = () if beginning is None else beginning.read(fields, is_form=is_form)
        except ActionError as error:
            wrong = {**wrong, **error.fields}
        if wrong:
            return Rejection(code="invalid", message="Validation failed", status=422, fields=wrong)
        try:
            rejection = await self.attempts.charge(self.attempts.registration_of(client))
            if rejection is None and self.registration is None:
                await self._add(str(address), str(password), beginning, field_values)
            elif rejection is None and self.registration is not None:
                hashed = await self.hasher.hash(normalize_password(str(password)) or "")
                await self.registration.begin(str(address), hashed)
        except ActionError as error:
            return _validation_rejection(error)
        except TaskQueueFull:
            return BUSY
        except (HashingBusy, AuthStorageUnavailable) as error:
            return rejection_of(error)
        return rejection

    async def confirm(
        self,
        token: object,
        password: object,
        *,
        fields: Mapping[str, Any] = _NO_FIELDS,
        is_form: bool = False,
    ) -> Rejection | None:
        """Create the account of a link in a mail; None on success.

        ``fields`` and ``is_form`` are those of `register`.
        """
        secret = readable_password(password, longest=self.settings.password_max_length)
        if self.registration is None:
            return _CLOSED
        if secret is None or not isinstance(token, str) or len(token) > LONGEST_TOKEN:
            return _WRONG
        try:
            return await self.registration.confirm(token, secret, fields, is_form=is_form)
        except ActionError as error:
            return _validation_rejection(error)
        except (HashingBusy, AuthStorageUnavailable) as error:
            return rejection_of(error)

    async def log_in(
        self,
        email: object,
        password: object,
        *,
        remember: bool = False,
        client: str | None = None,
        replaces: str | None = None,
    ) -> SignedIn | Rejection:
        """Verify a password and start a session with a new token.

        ``remember`` lets the cookie outlive the browser. ``client`` is the IP address of the
        client, ``replaces`` the token of the browser's previous session, which ends. An
        unknown address and a wrong password get the same response after the same work.
        """
        address = canonical_email(email)
        if address is None:
            return _WRONG
        try:
            buckets = self.attempts.login_of(address, client)
            who = f"login of {buckets[0].key[:20]} from {client}"
            account = await self._check(address, password, buckets, who)
            if isinstance(account, Rejection):
                return account
            begun = await self._begin(account, remember=remember, replaces=replaces)
            return begun or _WRONG
        except (HashingBusy, AuthStorageUnavailable) as error:
            return rejection_of(error)

    async def change_password(
        self, user: User, current: object, new: object, *, keep: HTTPConnection | None = None
    ) -> Rejection | None:
        """Replace the password of a user who knows the current one, and end all sessions.

        The session of the request ``keep`` continues. Returns None on success. Wrong guesses are
        limited like failed attempts to sign in, but counted separately: an attack on the sign-in
        page does not block a signed-in user.
        """
        problems = credential_problems(self.settings, user.email, new)
        if problems:
            return Rejection(
                code="invalid", message="Validation failed", status=422, fields=problems
            )
        try:
            buckets = self.attempts.change_of(user.id)
            who = f"password change of user {user.id}"
            account = await self._check(user.email, current, buckets, who)
            if isinstance(account, Rejection):
                return _WRONG_CURRENT if account is _WRONG else account
            known = account.password_hash
            if not await self._replace_password(user.id, str(new), known=known, keep=keep):
                return _WRONG_CURRENT
        except (HashingBusy, AuthStorageUnavailable) as error:
            return rejection_of(error)
        return None

    async def log_out(self, token: str) -> None:
        """End the session of a token, even if it has already ended.

        While the database cannot be written, the session has ended only in this process; the change
        is stored later.
        """
        key = key_of(token)
        try:
            await self.storage.end_session(key)
        except AuthStorageUnavailable as error:
            self.pending_revocations.add(key, error)
        self._end_here(key=key)
        log.info("session %s ended", _short(key))

    async def authenticate(self, connection: HTTPConnection) -> User | None:
        """Return the user of a request or a WebSocket handshake.

        Queries the storage only for a cookie that this app has signed. The middleware does not
        run for a WebSocket, so this sets its ``state.user``, unless a hook or a middleware of the
        app already has. A WebSocket with a user is closed with 4401 when the session ends.
        """
        signed_in = await self.find(connection.scope)
        user = None if signed_in is None else signed_in.user
        if connection.scope["type"] == "websocket":
            if getattr(connection.state, "user", None) is None:
                connection.state.user = user
            if signed_in is not None:
                self.sockets.hold(connection.scope, signed_in.session)
        return user

    async def find(self, scope: Scope) -> SignedIn | None:
        """Return the user of a connection's cookie, if its session has not ended."""
        sent = self.rules.read(scope["headers"], scope["scheme"])
        cookie = self.signer.read(sent)
        if cookie is None:
            if sent:
                log.warning("forged session cookie from %s", client_of(scope))
            return None
        key = key_of(cookie.token)
        found = await self.session_cache.find(key, self.clock())
        if found is None or key in self.pending_revocations:
            return None
        session, user = found
        return SignedIn(user=user, session=session, token=cookie.token, renew=not cookie.current)

    def login_url(self, scope: Scope, url: str) -> str | None:
        """Return the URL at which the visitor of the page ``url`` signs in, to return to it.

        None for a signed-in user, and on the pages to sign in and to register.
        """
        app, settings = get_app(), self.settings
        base = url_of_root(scope) + ("" if app is None else app.config.base_url)
        ways_in = {base + settings.login_path, base + settings.register_path}
        signed_in = scope.get("state", {}).get("user") is not None
        if signed_in or url.partition("?")[0] in ways_in:
            return None
        return f"{base}{settings.login_path}?next={quote(url, safe='/')}"

    async def extend(self, session: Session) -> Session | None:
        """Move the end of a session that is used; None while the stored end is good enough.

        That is so too while nothing can be written. An end that is too far away was made
        by a clock that has gone back since: it is drawn in.
        """
        now, idle = self.clock(), self.settings.idle_timeout
        ends_at = min(session.ends_at, now + self.settings.absolute_timeout)
        expires_at = min(now + idle, ends_at)
        moved = max(abs(expires_at - session.expires_at), session.ends_at - ends_at)
        if moved < _RENEW_AFTER * idle:
            return None
        try:
            await self.storage.extend_session(session.key, expires_at, ends_at)
        except AuthStorageUnavailable:
            return None
        self.session_cache.forget()
        return attrs.evolve(session, expires_at=expires_at, ends_at=ends_at)

    def cookie_header(self, signed_in: SignedIn, scheme: str) -> bytes:
        """Return the `Set-Cookie` value of a session."""
        session = signed_in.session
        age = session.expires_at - self.clock() if session.persistent else None
        value = self.signer.sign(signed_in.token)
        return self.rules.set_header(value, scheme=scheme, max_age=age)

    async def _check(
        self, address: str, password: object, buckets: Sequence[Bucket], who: str
    ) -> Account | Rejection:
        secret = readable_password(password, longest=self.settings.password_max_length)
        if secret is None:
            return _WRONG
        async with self.attempts.admit(buckets) as rejection:
            if rejection is not None:
                log.warning("%s throttled", who)
                return rejection
            account = await self.storage.find_account(address)
            stored = None if account is None else account.password_hash
            verification = await self.hasher.verify(stored, secret)
            if account is None or not verification.correct:
                log.warning("%s failed", who)
                return _WRONG
            await self.attempts.forgive(buckets)
        if verification.outdated:
            fresh = await self.hasher.hash(secret)
            if await self.storage.rehash(account, fresh):
                return attrs.evolve(account, password_hash=fresh)
        return account

    async def _begin(
        self, account: Account, *, remember: bool, replaces: str | None
    ) -> SignedIn | None:
        """Begin a session; None when the password has changed since it was checked."""
        user, token, now = account.user, new_token(), self.clock()
        ends_at = now + self.settings.absolute_timeout
        session = Session(
            key=key_of(token),
            user_id=user.id,
            created_at=now,
            expires_at=min(now + self.settings.idle_timeout, ends_at),
            ends_at=ends_at,
            persistent=remember,
        )
        is_stored = await self.storage.add_session(
            session,
            proof=account.password_hash,
            replaces=None if replaces is None else key_of(replaces),
            most=self.settings.max_sessions,
        )
        if not is_stored:
            return None
        self.session_cache.forget()  # the oldest session of the user may have ended
        self.sockets.look()
        log.info("user %s signed in, session %s", user.id, _short(session.key))
        return SignedIn(user=user, session=session, token=token)


def get_auth() -> AuthService:
    """Return the auth plugin of the app that the running code belongs to.

    Raises AuthNotInstalled without one, and outside of a running app.
    """
    app = get_app()
    service = None if app is None else app.plugins.get("auth")
    if not isinstance(service, AuthService):
        raise AuthNotInstalled("get_auth()", outside=app is None)
    return service


def _short(key: bytes) -> str:
    """Return enough of a session's stored key to follow it in the log, and too little to use."""
    return key.hex()[:12]


def _validation_rejection(error: ActionError) -> Rejection:
    """Return what the app's function has raised, in the form of a rejection."""
    return Rejection(
        code="invalid", message=error.message, status=error.status_code, fields=error.fields
    )
