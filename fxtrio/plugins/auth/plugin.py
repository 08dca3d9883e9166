"""The plugin: puts settings, storage, endpoints, middleware and commands together."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import trio
from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from fxtrio.config import Config
from fxtrio.db import Database
from fxtrio.errors import AppNotRunning
from fxtrio.jobs import Job
from fxtrio.plugins.auth.accounts import Clock
from fxtrio.plugins.auth.attempts import LimitedAttempts
from fxtrio.plugins.auth.endpoints import Endpoints
from fxtrio.plugins.auth.errors import AuthMailMissing, SecretKeyMissing
from fxtrio.plugins.auth.passwords.passwords import open_hasher
from fxtrio.plugins.auth.registration.confirmation import Registration
from fxtrio.plugins.auth.registration.mail import Email
from fxtrio.plugins.auth.registration.on_register import beginning_of
from fxtrio.plugins.auth.service import AuthService
from fxtrio.plugins.auth.sessions.middleware import SessionMiddleware
from fxtrio.plugins.auth.sessions.pending_revocations import PendingRevocations
from fxtrio.plugins.auth.sessions.session_cache import SessionCache
from fxtrio.plugins.auth.sessions.sockets import SessionSockets
from fxtrio.plugins.auth.sessions.tokens import CookieRules, CookieSigner, binding_of
from fxtrio.plugins.auth.settings import AuthSettings
from fxtrio.plugins.auth.storage.open_storage import FILE, open_own_file, open_shared
from fxtrio.plugins.auth.storage.sql_storage import DatabaseStorage
from fxtrio.plugins.protocol import Plugin, Resolver, cause_of_unresolved

if TYPE_CHECKING:
    import click

    from fxtrio.app_handle import App


class AuthPlugin(Plugin[AuthSettings]):
    """Email and password, sessions in a database. Its service is an `AuthService`."""

    name = "auth"
    Settings = AuthSettings

    def __init__(
        self, settings: AuthSettings, *, config: Config, root: Path, clock: Clock = time.time
    ) -> None:
        """``clock`` returns seconds since 1970; tests hand in one of their own."""
        super().__init__(settings, config=config, root=root)
        self.clock = clock
        self._file = root / (settings.database or FILE)
        self._signer = CookieSigner(tuple(key.encode() for key in config.secret_keys))
        self._rules = CookieRules(settings.cookie_name, settings.secure == "always")
        self._service: AuthService | None = None

    @asynccontextmanager
    async def open(self, app: App) -> AsyncIterator[AuthService]:
        """Keep the database open for as long as the app runs.

        Raises SecretKeyMissing, AuthDatabaseUnusable, DatabaseUnusable and ExtraMissing.
        """
        if not self._signer.keys:
            raise SecretKeyMissing("the auth plugin")
        post = self._mail(app)
        opened = self.open_service(post, app.database, app.resolve)
        async with opened as service, trio.open_nursery() as nursery:
            nursery.start_soon(service.sockets.watch)
            nursery.start_soon(service.pending_revocations.write)
            self._service = service
            try:
                with app.authenticated_by(service):
                    yield service
            finally:
                self._service = None
                nursery.cancel_scope.cancel()

    @asynccontextmanager
    async def open_service(
        self,
        post: Callable[[Email], Awaitable[None]] | None = None,
        database: Database | None = None,
        resolve: Resolver | None = None,
    ) -> AsyncIterator[AuthService]:
        """Keep the storage open, for commands as well: they have no app and sign nothing."""
        settings = self.settings
        hasher = await open_hasher(
            settings.argon2, threads=settings.hashing_threads, waiting=settings.hashing_queue
        )
        async with self._open_storage(database) as storage:
            hasher.expect(await storage.password_costs())
            attempts = LimitedAttempts(settings, storage, self._now)
            registration, beginning = None, None
            if settings.on_register and resolve is not None:
                function = resolve(settings.on_register)
                beginning = beginning_of(function, settings.on_register, storage)
            if post is not None:
                registration = Registration(
                    settings=settings,
                    storage=storage,
                    hasher=hasher,
                    attempts=attempts,
                    clock=self._now,
                    site=settings.site_url.rstrip("/") + self.config.base_url,
                    post=post,
                    beginning=beginning,
                )
            yield AuthService(
                settings=settings,
                storage=storage,
                hasher=hasher,
                signer=self._signer,
                rules=self._rules,
                clock=self._now,
                attempts=attempts,
                sockets=SessionSockets(storage, self._now),
                pending_revocations=PendingRevocations(storage),
                session_cache=SessionCache(storage),
                beginning=beginning,
                registration=registration,
            )

    def _open_storage(
        self, database: Database | None
    ) -> AbstractAsyncContextManager[DatabaseStorage]:
        """Open what keeps accounts; ``database`` is the app's if it runs."""
        if self.settings.database or not self.config.database.url:
            return open_own_file(self._file)
        return open_shared(self.config.database, self.root, self._file, database)

    def _mail(self, app: App) -> Callable[[Email], Awaitable[None]] | None:
        """Return what sends a mail as a job, a durable one or of the app; None where none are sent.

        Raises AuthMailMissing, DottedNameUnknown and JobsNotRunning.
        """
        settings = self.settings
        if not settings.verify_email:
            return None
        if not settings.site_url.startswith(("https://", "http://")):
            raise AuthMailMissing("siteUrl", "https://example.org")
        if not settings.send_email or app.resolve is None:
            raise AuthMailMissing("sendEmail", "mails:send_email")
        send = app.resolve(settings.send_email)
        if isinstance(send, Job):
            send.runner_of(app)

        async def post(mail: Email) -> None:
            if isinstance(send, Job):
                await send.enqueue(to=mail.to, subject=mail.subject, text=mail.text)
            else:
                app.tasks.enqueue(send, mail)

        return post

    def mistakes(self, resolve: Resolver) -> Mapping[str, str]:
        """Return what verified addresses lack."""
        settings, found = self.settings, {}
        if settings.send_email and (cause := cause_of_unresolved(settings.send_email, resolve)):
            found["sendEmail"] = cause
        if settings.on_register and (cause := cause_of_unresolved(settings.on_register, resolve)):
            found["onRegister"] = cause
        if settings.verify_email and not settings.send_email:
            found["sendEmail"] = "is needed by 'verifyEmail', such as 'mails:send_email'"
        if settings.verify_email and not settings.site_url.startswith(("https://", "http://")):
            found["siteUrl"] = "is needed by 'verifyEmail', such as 'https://example.org'"
        return found

    def isolate(self, folder: Path) -> None:
        """Keep the database in ``folder``, under its own name."""
        self._file = folder / self._file.name

    def middleware(self, app: ASGIApp) -> ASGIApp:
        """Return ``app`` with ``request.state.user`` set."""
        assets = f"{self.config.base_url}/_fx/"
        return SessionMiddleware(app, service=self._running, assets=assets)

    def routes(self) -> Sequence[BaseRoute]:
        """Return the endpoints below ``/api/__auth``."""
        return Endpoints(self._running, self.config.base_url).routes()

    def commands(self) -> Sequence[click.Command]:
        """Return ``fx auth``."""
        from fxtrio.plugins.auth.commands import make_commands

        return (make_commands(self.open_service),)

    def csrf_binding(self, connection: HTTPConnection) -> str | None:
        """Return what ties CSRF tokens to a session; asks nobody, so it never waits."""
        scope = connection.scope
        cookie = self._signer.read(self._rules.read(scope["headers"], scope["scheme"]))
        return None if cookie is None else binding_of(cookie.token)

    def _now(self) -> float:
        return self.clock()

    def _running(self) -> AuthService:
        if self._service is None:
            raise AppNotRunning
        return self._service
