"""``/api/__auth/…``: signing in and out over HTTP, with JSON or a plain HTML form.

JSON in, JSON out: ``{"ok": true, "user": {"id", "email"}}`` or ``{"ok": false, "error",
"fields"?}``. A form that a browser sends without JavaScript is answered with a redirect, and
after a failure with its page.
The app's CSRF check stands before these routes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import attrs
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from fxtrio.errors import ActionError, BadBody
from fxtrio.plugins.auth.errors import AuthStorageUnavailable
from fxtrio.plugins.auth.models import Rejection, User, rejection_of
from fxtrio.plugins.auth.service import AuthService
from fxtrio.plugins.auth.sessions.middleware import signed_in_of
from fxtrio.plugins.auth.throttle import client_of
from fxtrio.serve.request.bodies.body import ActionRequest, refill_values
from fxtrio.serve.request.bodies.spool import Body
from fxtrio.serve.request.response.error_response import ErrorResponse, whole_seconds
from fxtrio.serve.request.response.form_rerender import PAGES, PageAgain
from fxtrio.serve.request.response.translated import translated, translated_fields

PREFIX = "/api/__auth"
BODY_LIMIT = 16 * 1024
"""Largest body of these endpoints (bytes)."""

_NOBODY = Rejection(code="signed-out", message="You are not signed in.", status=401)


@attrs.frozen
class Submission:
    """A client's request to an endpoint."""

    request: ActionRequest
    fields: Mapping[str, Any]
    by_form: bool
    """Whether a browser without JavaScript waits for a page."""

    name: str = ""
    """The endpoint's."""


Handler = Callable[[Submission], Awaitable[Response]]


@attrs.frozen
class Endpoints:
    """The endpoints of one app."""

    service: Callable[[], AuthService]
    base_url: str

    def routes(self) -> tuple[BaseRoute, ...]:
        """Return the routes, without the base URL."""
        posts = {
            "login": self.log_in,
            "logout": self.log_out,
            "logout-all": self.log_out_everywhere,
            "register": self.register,
            "verify": self.verify,
        }
        return (
            Route(f"{PREFIX}/session", self.session, methods=["GET"]),
            *(
                Route(f"{PREFIX}/{name}", self._endpoint(name, handler), methods=["POST"])
                for name, handler in posts.items()
            ),
            *(Route(f"{PREFIX}/{name}", self._go_to_page, methods=["GET"]) for name in posts),
        )

    async def session(self, request: Request) -> Response:
        """Return the signed-in user; ``user`` is null without one."""
        signed_in = signed_in_of(request.scope)
        return _json({"user": None if signed_in is None else _public_user(signed_in.user)})

    async def log_in(self, submission: Submission) -> Response:
        """Begin a session; the one that the browser had ends."""
        service, scope, fields = self.service(), submission.request.scope, submission.fields
        outcome = await service.log_in(
            fields.get("email"),
            fields.get("password"),
            remember=fields.get("remember") in (True, "true", "on", "1"),
            client=client_of(scope),
            replaces=service.token_of(scope),
        )
        page = service.settings.login_path
        if isinstance(outcome, Rejection):
            return self._reject(submission, outcome, page)
        response = self._succeed(submission, {"user": _public_user(outcome.user)})
        response.raw_headers.append(
            (b"set-cookie", service.cookie_header(outcome, scope["scheme"]))
        )
        return response

    async def log_out(self, submission: Submission) -> Response:
        """End the session of this browser; fine without one."""
        service, scope = self.service(), submission.request.scope
        token = service.token_of(scope)
        if token is not None:
            await service.log_out(token)
        return self._forgetting(submission)

    async def log_out_everywhere(self, submission: Submission) -> Response:
        """End every session of the user."""
        signed_in = signed_in_of(submission.request.scope)
        if signed_in is None:
            return self._reject(submission, _NOBODY, self.service().settings.login_path)
        await self.service().log_out_everywhere(signed_in.user.id)
        return self._forgetting(submission)

    async def register(self, submission: Submission) -> Response:
        """Register a user. The response is the same for an address that is taken."""
        service, fields = self.service(), submission.fields
        rejection = await service.register(
            fields.get("email"),
            fields.get("password"),
            client=client_of(submission.request.scope),
            fields=fields,
            is_form=submission.request.is_form,
        )
        if rejection is not None:
            return self._reject(submission, rejection, service.settings.register_path)
        return self._succeed(submission, {}, page=service.settings.login_path)

    async def verify(self, submission: Submission) -> Response:
        """Create the account of a link in a mail, with the password chosen for it."""
        service, fields = self.service(), submission.fields
        rejection = await service.confirm(
            fields.get("token"),
            fields.get("password"),
            fields=fields,
            is_form=submission.request.is_form,
        )
        if rejection is None:
            return self._succeed(submission, {}, page=service.settings.login_path)
        token = fields.get("token")
        stored = {"token": token} if isinstance(token, str) else {}
        return self._reject(submission, rejection, service.settings.verify_path, **stored)

    async def _go_to_page(self, request: Request) -> Response:
        """Redirect a browser that opens an endpoint's URL to its form."""
        if "text/html" not in request.headers.get("accept", ""):
            return Response(status_code=405, headers={"allow": "POST"})
        name = request.scope["path"].rpartition("/")[2]
        return _see_other(self.base_url + self._page_of(name))

    def _page_of(self, name: str) -> str:
        """Return the page with the form of an endpoint."""
        settings = self.service().settings
        pages = {"register": settings.register_path, "verify": settings.verify_path}
        return pages.get(name, settings.login_path)

    def _endpoint(self, name: str, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            submission = _unread(request, name)
            try:
                submission = attrs.evolve(submission, fields=await _fields(submission.request))
                return await handler(submission)
            except ActionError as error:
                rejection = Rejection(code="body", message=error.message, status=error.status_code)
            except AuthStorageUnavailable as error:
                rejection = rejection_of(error)
            return self._reject(submission, rejection, self._page_of(name))

        return endpoint

    def _succeed(
        self, submission: Submission, values: Mapping[str, Any], *, page: str | None = None
    ) -> Response:
        if not submission.by_form:
            return _json(values)
        home = page or self.service().settings.home_path
        return _see_other(local_target(submission.fields.get("next")) or self.base_url + home)

    def _forgetting(self, submission: Submission) -> Response:
        response = self._succeed(submission, {})
        cookie = self.service().rules.clear_header(submission.request.scope["scheme"])
        response.raw_headers.append((b"set-cookie", cookie))
        return response

    def _reject(
        self, submission: Submission, rejection: Rejection, page: str, **stored: str
    ) -> Response:
        """Return the error response. Raises PageAgain for a form, whose page is rendered again."""
        later = rejection.retry_after
        wait = None if later is None else whole_seconds(later)
        if submission.by_form:
            query = dict(stored)
            target = local_target(submission.fields.get("next"))
            if target is not None:
                query["next"] = target
            url = f"{self.base_url}{page}?{urlencode({'error': rejection.code, **query})}"
            data = {"code": rejection.code}
            fields = rejection.fields or {}
            again = PageAgain(
                page,
                submission.name,
                ErrorResponse(rejection.message, rejection.status, data, fields, wait),
                query=urlencode(query),
                values=refill_values(submission.fields),
                otherwise=_see_other(url),
            )
            if PAGES not in submission.request.scope:  # another application has the routes
                return again.otherwise
            raise again
        values: dict[str, Any] = {"error": translated(rejection.message), "code": rejection.code}
        if rejection.fields:
            values["fields"] = translated_fields(rejection.fields)
        response = _json(values, ok=False, status=rejection.status)
        if wait is not None:
            response.headers["retry-after"] = str(wait)
        return response


def _unread(request: Request, name: str) -> Submission:
    """Return a submission of which nothing has been read."""
    body = Body(request.receive, dict(request.scope["headers"]), limit=BODY_LIMIT)
    whole = ActionRequest(request.scope, body)
    asks_for_page = "text/html" in request.headers.get("accept", "")
    return Submission(whole, {}, whole.is_form and asks_for_page, name)


async def _fields(request: ActionRequest) -> dict[str, Any]:
    """Read a request's fields. Raises ActionError for a body that is too large or broken."""
    try:
        fields = await request.read_json()
    finally:
        request.forget()  # nothing here takes files
    if not isinstance(fields, dict):
        raise BadBody("The body must be a JSON object or a form.")
    return fields


def local_target(value: object) -> str | None:
    """Return a path of this site that a client named; None for anything that leads elsewhere."""
    if not isinstance(value, str) or not value.startswith("/") or len(value) > 2048:
        return None
    if value[1:2] in ("/", "\\") or any(char <= " " or char == "\x7f" for char in value):
        return None
    return value


def _public_user(user: User) -> dict[str, str]:
    return {"id": user.id, "email": user.email}


def _json(values: Mapping[str, Any], *, ok: bool = True, status: int = 200) -> Response:
    return JSONResponse({"ok": ok, **values}, status, headers={"cache-control": "no-store"})


def _see_other(url: str) -> Response:
    return RedirectResponse(url, 303, headers={"cache-control": "no-store"})
