"""The plugin: who may see the page, its routes, and what its buttons do."""

from __future__ import annotations

import inspect
import itertools
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import attrs
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from fxtrio.asgi_extensions import SAFE_IN_PATHS, url_of_root
from fxtrio.config.validators import app_path
from fxtrio.errors import AppNotRunning, PlacedError, Redirect
from fxtrio.jobs.admin import discard_jobs, retry_all, retry_jobs
from fxtrio.jobs.store import JobStore
from fxtrio.plugins.admin_page import STYLE, policy
from fxtrio.plugins.auth.passwords.credentials import canonical_email
from fxtrio.plugins.guard import Guard, guard_mistakes, guarded
from fxtrio.plugins.jobs.html import render
from fxtrio.plugins.jobs.overview import read_overview
from fxtrio.plugins.protocol import Plugin, Resolver
from fxtrio.serve.request.csrf_proof import token_field

if TYPE_CHECKING:
    from fxtrio.app_handle import App
    from fxtrio.plugins.auth.service import AuthService

_SCRIPT = Path(__file__).with_name("page.js")
_OF_ONE = {"cache-control": "no-store"}

log = logging.getLogger("fx.jobs")


class JobsPageUnguarded(PlacedError):
    """The page of jobs is enabled, but no user may see it."""

    remedy = (
        "Put 'auth' before it in 'plugins' and the addresses of those who may see it into "
        "'users', or name a 'guard'"
    )

    def __init__(self, cause: str) -> None:
        super().__init__(
            "the jobs plugin", f"{cause}, and the page shows arguments and errors of jobs"
        )


class JobsPageWithoutDatabase(PlacedError):
    """The page of jobs is to be served in an app that cannot have any."""

    def __init__(self) -> None:
        super().__init__("the jobs plugin", "the app has no database", "Set 'database.url'")


@attrs.frozen(kw_only=True)
class JobsSettings:
    """Everything about the jobs plugin that can be set."""

    path: str = attrs.field(default="/_jobs", validator=app_path)
    """Where the page is, without the base URL."""

    users: tuple[str, ...] = ()
    """The addresses of those who may see it, of accounts of the auth plugin."""

    guard: str = ""
    """A function that decides instead, as ``module:function``: a route hook."""


@attrs.frozen
class _Context:
    """What the page is about."""

    store: JobStore
    app: App
    guard: Guard

    def now(self) -> float:
        runner = self.app.jobs
        return time.time() if runner is None else runner.now()


class JobsPlugin(Plugin[JobsSettings]):
    """Shows queues, errors, schedules and workers. It has no service."""

    name = "jobs"
    Settings = JobsSettings
    needs = ("database.url",)
    _context: _Context | None = None
    _isolated = False

    def isolate(self, folder: Path) -> None:
        """Warn of nothing in tests: their accounts are created while the app runs."""
        self._isolated = True

    @asynccontextmanager
    async def open(self, app: App) -> AsyncIterator[None]:
        """Serve the page for as long as the app runs.

        Raises JobsPageUnguarded, JobsPageWithoutDatabase and DottedNameUnknown.
        """
        guard = self._guard(app)
        if app.database is None:
            raise JobsPageWithoutDatabase
        store = JobStore(app.database)
        await store.prepare()
        self._context = _Context(store, app, guard)
        if not self._isolated:
            await self._warn_of_unregistered(app)
        try:
            yield
        finally:
            self._context = None

    def mistakes(self, resolve: Resolver) -> Mapping[str, str]:
        """Return why nobody, or everybody, could see the page."""
        settings = self.settings
        if settings.guard:
            return guard_mistakes(settings.guard, resolve)
        found: dict[str, str] = {}
        if "auth" not in itertools.takewhile(
            lambda name: name != self.name, (each.name for each in self.config.plugins)
        ):
            found["guard"] = (
                "is needed, as 'auth' does not precede it in 'plugins'. Name a function that "
                "decides who may see the page"
            )
        elif not settings.users:
            found["users"] = (
                "is needed: the addresses of those who may see the page. "
                'Add "users": ["ada@example.org"] with yours'
            )
        return found

    async def _warn_of_unregistered(self, app: App) -> None:
        """Warn of addresses in ``users`` that anybody may register, and see the page then."""
        auth: AuthService | None = app.plugins.get("auth")
        open_to_all = auth is not None and auth.settings.registration
        if self.settings.guard or auth is None or not open_to_all or auth.settings.verify_email:
            return
        for address in self.settings.users:
            name = canonical_email(address)
            if name is None or await auth.storage.find_account(name) is None:
                log.warning(
                    "the jobs plugin: %r in 'users' has no account; anyone who registers it sees "
                    "the page. Register it, set 'verifyEmail' of the auth plugin, or remove it.",
                    address,
                )

    def _guard(self, app: App) -> Guard:
        """Return what decides who may see the page."""
        if self.settings.guard and app.resolve is not None:
            named: Guard = app.resolve(self.settings.guard)
            if not inspect.iscoroutinefunction(named):
                raise JobsPageUnguarded(
                    f"the guard {self.settings.guard!r} is not an async function"
                )
            return named
        auth = app.plugins.get("auth")
        if auth is None:
            raise JobsPageUnguarded("there are no accounts")
        if not self.settings.users:
            raise JobsPageUnguarded("nobody is named in 'users'")
        allowed = {address.strip().lower() for address in self.settings.users}

        async def require_one_of_them(request: Request) -> Response | Redirect | None:
            user = request.state.user
            if user is None:
                url = (
                    quote(request.scope["path"], safe=SAFE_IN_PATHS)
                    if request.method in ("GET", "HEAD")
                    else self._url(request)
                )
                return Redirect(auth.login_url(request.scope, url) or "/")
            if user.email in allowed:
                return None
            return PlainTextResponse("Your account may not see this page.\n", 403, _OF_ONE)

        return require_one_of_them

    def _url(self, request: Request) -> str:
        return url_of_root(request.scope) + self.config.base_url + self.settings.path

    def routes(self) -> Sequence[BaseRoute]:
        """Return the page, its script and its buttons."""
        path = self.settings.path
        return (
            Route(path, self._guarded(self._page), methods=["GET"]),
            Route(f"{path}/page.js", self._guarded(_script), methods=["GET"]),
            Route(f"{path}/retry", self._guarded(self._retry), methods=["POST"]),
            Route(f"{path}/discard", self._guarded(self._discard), methods=["POST"]),
        )

    def _guarded(
        self, answer: Callable[[_Context, Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            context = self._context
            if context is None:
                raise AppNotRunning
            return await guarded(context.guard, request, partial(answer, context))

        return endpoint

    async def _page(self, context: _Context, request: Request) -> Response:
        declared = [] if context.app.jobs is None else context.app.jobs.jobs.values()
        overview = await read_overview(context.store, declared, context.now())
        home = f"{url_of_root(request.scope)}{self.config.base_url}/"
        html = render(overview, self._url(request), token_field(request), home)
        return HTMLResponse(html, headers={**_OF_ONE, **_policy(context.app.config.csp)})

    async def _retry(self, context: _Context, request: Request) -> Response:
        fields = await _fields(request)
        if "all" in fields:
            await retry_all(context.store, context.now(), name=None, queue=None)
        else:
            await retry_jobs(context.store, _numbers(fields), context.now())
        if context.app.jobs is not None:
            context.app.jobs.notify()
        return self._again(request)

    async def _discard(self, context: _Context, request: Request) -> Response:
        await discard_jobs(context.store, _numbers(await _fields(request)))
        return self._again(request)

    def _again(self, request: Request) -> Response:
        return RedirectResponse(self._url(request), 303, headers=_OF_ONE)


def _policy(mode: str) -> dict[str, str]:
    """Return the header with the page's own Content-Security-Policy, as the settings want it."""
    names = {
        "enforce": "content-security-policy",
        "report-only": "content-security-policy-report-only",
    }
    return {names[mode]: policy(STYLE)} if mode in names else {}


async def _script(context: _Context, request: Request) -> Response:
    return Response(_SCRIPT.read_bytes(), media_type="text/javascript", headers=_OF_ONE)


async def _fields(request: Request) -> dict[str, list[str]]:
    """Return the values of a form's fields by name."""
    fields: dict[str, list[str]] = {}
    async with request.form(max_files=0, max_fields=1000) as form:
        for name, value in form.multi_items():
            fields.setdefault(name, []).append(str(value))
    return fields


def _numbers(fields: Mapping[str, Sequence[str]]) -> list[int]:
    """Return the jobs that a form selects, without values that are not numbers."""
    return [int(word) for word in fields.get("job", ()) if word.isdecimal() and len(word) < 19]
