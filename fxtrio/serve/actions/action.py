"""Actions: `POST {base}/api/__actions/{page_path}/{name}`, answered as JSON, or to a plain form."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from starlette.background import BackgroundTasks
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from fxtrio.application_errors import application_error
from fxtrio.encode import NotSerializable, encode
from fxtrio.errors import ActionError, BadBody, Busy, LoaderError, Redirect
from fxtrio.routes.matched import SCOPE_KEY
from fxtrio.runtime import INVALIDATE_HEADER, take_invalidated
from fxtrio.serve.actions.errors import refusal_in_json, with_login
from fxtrio.serve.actions.lookup import ActionResultInvalid, NamedAction, find_action, say_missing
from fxtrio.serve.actions.no_js_forms import asks_for_page, page_of, typed_values
from fxtrio.serve.actions.result import NotRun, Result, Succeeded
from fxtrio.serve.actions.transact import transact
from fxtrio.serve.pages.error_response import log_failure
from fxtrio.serve.pages.resources import Running
from fxtrio.serve.pages.server_functions import ActionCode
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.apply_route_policy import enter
from fxtrio.serve.request.bodies.body import ActionRequest
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.hooks import run_hooks, run_page_hooks
from fxtrio.serve.request.response.background import background_task, require_runnable
from fxtrio.serve.request.response.error_response import (
    UNEXPECTED,
    Refused,
    busy,
    forgery,
    refusal_reply,
    refused,
)
from fxtrio.serve.request.response.response import JSON, NO_STORE, NOTHING, Answer, Header, Reply
from fxtrio.serve.request.response.unwrap import require_status, unwrap
from fxtrio.serve.request.watchdog import DeadlinePassed, Watched

log = logging.getLogger("fx.serve")


class ActionEvent(msgspec.Struct, frozen=True, eq=False):
    """One call of an action. `answer` is the whole of it."""

    site: Site
    running: Running
    event: RequestEvent

    async def answer(self) -> Answer:
        """Return the response; nothing when the client left before its request was whole."""
        found = find_action(self.site, self.event)
        policies = self.site.policies
        if policies is not None and found is not None:
            count, pattern = self.running.count, found.pattern
            answer = await enter(self.event, policies, pattern, called=True, count=count)
            if answer is not None:
                return answer
            if self.event.refused is not None:
                limited = refused(self.event.refused)
                return await self._refuse(found, NotRun(limited, admitted=False))
        if self.event.scope["method"] != "POST":
            return self._not_posted(found)
        if found is None:
            return refusal_reply(Refused("Action not found", 404, self._hint()))
        verdict = self.site.proof.refusal(self.event)
        self.event.scope["path_params"] = found.params
        self.event.scope[SCOPE_KEY] = found.matched
        if verdict:
            return await self._refuse(found, NotRun(forgery(verdict), admitted=False))
        background = self.event.scope["state"]["background"] = BackgroundTasks()
        try:
            performed = await self._perform(found, verdict, background)
        finally:  # before anything can fail: it is a promise, whatever the action answers
            self.event.background_tasks[:0] = background.tasks
        if performed is None:
            return NOTHING
        if isinstance(performed, NotRun):
            return await self._refuse(found, performed)
        request, result = performed
        if self.running.app.cache is not None:
            self.running.app.cache.drop(*_invalidated(result, self.site.root))
        return await self._present(result, found, request)

    def _hint(self) -> dict[str, str]:
        """Return what the author of a wrong URL should know, in development; also log it."""
        if not self.site.development:
            return {}
        hint = say_missing(self.site, self.event)
        log.warning("%s", hint)
        return {"hint": hint}

    def _not_posted(self, found: NamedAction | None) -> Answer:
        """Answer another method. A browser that reloads after a form goes back to its page."""
        asks = self.event.scope["method"], self.event.headers.get(b"accept", b"")
        if found is not None and asks[0] in ("GET", "HEAD") and b"text/html" in asks[1]:
            page = page_of(self.site, self.running, self.event, found)
            return page.leave(page.url)
        reply = refusal_reply(Refused("Actions are called with POST.", 405))
        reply.headers.append((b"allow", b"POST"))
        return reply

    async def _perform(
        self, found: NamedAction, verdict: str | None, background: BackgroundTasks
    ) -> tuple[ActionRequest, Result] | NotRun | None:
        """Ask the hooks, read the body and run the action; None when the client has left.

        One block covers all waits: its deadline is first that of the hooks, then the
        body's, then the action's.
        """
        action = found.action
        limit = self.site.config.limits.body if action.limit is None else action.limit
        body = self.event.open_body(self.running.bodies, limit=limit)
        request = ActionRequest(self.event.scope, body)
        passed = begun = False
        leaving: Watched | None = None
        watchdog = self.running.watchdog
        hooked = bool(self.site.hooks.pages or self.site.hooks.actions)
        reading = self.site.config.timeouts.request
        first = action.timeout if hooked else reading
        with watchdog.watch(None, limit=first) as watched:
            try:
                refusal = await self._guard(found, request) if hooked else None
                if isinstance(refusal, Refused):
                    return NotRun(refusal, admitted=False)
                if refusal is not None:
                    return request, refusal
                passed = True
                if hooked:
                    watched.allow(reading)
                await body.read()
                if verdict is None:
                    verdict = await self._token_of_form(request)
            except ActionError as error:
                return NotRun(refused(error), admitted=passed)
            except ClientDisconnect:
                return None
            if verdict:
                return NotRun(forgery(verdict), admitted=True)
            begun = True
            watched.allow(action.timeout)
            if not action.cancel_on_disconnect:
                return request, await self._run(action, request, background)
            with watchdog.watch(self.event.receive, limit=action.timeout) as leaving:
                return request, await self._run(action, request, background)
        if passed and not begun:
            return NotRun(Refused("The body took too long to arrive.", 408), admitted=True)
        if leaving is not None and leaving.gone:
            return None
        log.error("%s", DeadlinePassed(action.place, action.timeout))
        late = Refused("The action took too long.", 504)
        return (request, late) if begun else NotRun(late, admitted=False)

    async def _token_of_form(self, request: ActionRequest) -> str:
        """Decide by the form's own token field; "" when it holds."""
        form = await request.sent_token() if request.is_form else {}
        return self.site.proof.refusal(self.event, request, form) or ""

    async def _guard(
        self, found: NamedAction, request: ActionRequest
    ) -> Response | Redirect | Refused | None:
        """Run the hooks of pages, then those of actions; None lets the request pass.

        Nothing of the body has been read, unless a hook reads it. What a hook raises is
        never shown on the page that it guards.
        """
        try:
            hooks, audience = self.site.hooks, self.event.audience
            if found.page is None:
                refusal = await run_hooks(hooks.before("actions", "action"), request, audience)
            else:
                path = found.page.path
                refusal = await run_page_hooks(hooks, request.scope, path, request.at, audience)
                refusal = refusal or await run_hooks(hooks.actions, request, audience)
        except ClientDisconnect:  # a hook has read the body
            raise
        except BaseException as raised:
            error = application_error(raised)
            place = f"{found.action.place}: a route hook"
            return self._failed(found.action, unwrap(error, self.event.draft, place))
        if isinstance(refusal, Response) and refusal.status_code >= 400:
            plain = asks_for_page(self.event)
            return refusal_in_json(refusal, self.event.draft, whole=not plain) or refusal
        return refusal

    async def _run(
        self, action: ActionCode, request: ActionRequest, background: BackgroundTasks
    ) -> Result:
        """Run the action."""
        try:
            arguments = await self._arguments(action, request)
            if action.transaction:
                return await self._transact(action, request, arguments, background)
            value = await action.function(request, *arguments)
            return self._checked(action, value, background)
        except BaseException as raised:
            error = application_error(raised)
            return self._failed(action, unwrap(error, self.event.draft, action.place))

    async def _transact(
        self,
        action: ActionCode,
        request: ActionRequest,
        arguments: tuple[Any, ...],
        background: BackgroundTasks,
    ) -> Result:
        """Run the action as one transaction; see `transact`."""
        given: list[tuple[Any, ...]] = [arguments]

        async def run() -> Any:
            # Whoever comes second gets arguments that nobody has changed.
            own = given.pop() if given else await self._arguments(action, request)
            return await action.function(request, *own)

        return await transact(
            run,
            lambda value: self._checked(action, value, background),
            isolation=action.isolation,
            request=request,
            draft=self.event.draft,
            background=background,
        )

    async def _arguments(self, action: ActionCode, request: ActionRequest) -> tuple[Any, ...]:
        """Return the typed body, if the action takes one. Raises ValidationActionError."""
        model = action.body
        if model is None:
            return ()
        # Heavy, and loaded by now, since there is a model.
        from fxtrio.serve.request.model.validate import ROOT, invalid

        if not request.has_body:
            if model.optional:
                return (None,)
            raise invalid({ROOT: ["The body is empty"]})
        if not request.is_readable:
            raise ActionError(
                f"The body is {request.media_type!r}. Send application/json, "
                "application/x-www-form-urlencoded or multipart/form-data.",
                415,
            )
        try:
            value = await request.json()
        except BadBody as error:
            raise invalid({ROOT: [error.message]}) from error
        if value is None and model.optional:
            return (None,)
        return (await request.work(model.build, value, request.is_form),)

    def _failed(self, action: ActionCode, error: BaseException) -> Refused | Redirect:
        if isinstance(error, (ActionError, LoaderError)):
            return refused(error)
        if isinstance(error, Redirect):
            return error
        log_failure(error, action.place)
        if isinstance(error, Busy):
            return busy(error)
        shown = f"{type(error).__name__}: {error}" if self.site.development else UNEXPECTED
        return Refused(shown, 500)

    def _checked(self, action: ActionCode, value: Any, background: BackgroundTasks) -> Result:
        """Return what an action returned, apart from what only the runtime reads."""
        if isinstance(value, Response):
            require_status(value.status_code, action.place)
        if isinstance(value, (Response, Redirect)):
            require_runnable(background.tasks, action.place)
            return value
        if not isinstance(value, dict):
            raise ActionResultInvalid(action.place, value)
        result, invalidated = take_invalidated(value)
        if self.site.development and result.get("ok", True) is not True:
            log.warning(
                "%s: returned 'ok': %r, which is sent as true: 'ok' is the answer's own. "
                "Raise ActionError for a failure, or choose another key.",
                action.place,
                result["ok"],
            )
        if "background" in result:
            background.tasks.append(background_task(result.pop("background"), action.place))
        require_runnable(background.tasks, action.place)
        return Succeeded(result, invalidated)

    async def _refuse(self, found: NamedAction, not_run: NotRun) -> Answer:
        """Say that the action was not run: in JSON, or to a plain form as a page."""
        refusal = self._with_login(not_run.refusal, found)
        if not asks_for_page(self.event):
            return refusal_reply(refusal)
        page = page_of(self.site, self.running, self.event, found)
        return await page.refuse(refusal, admitted=not_run.admitted)

    def _with_login(self, refusal: Refused, found: NamedAction) -> Refused:
        if refusal.status != 401:
            return refusal
        page = page_of(self.site, self.running, self.event, found)
        return with_login(refusal, self.running.app, self.event.scope, page.url)

    async def _present(self, result: Result, found: NamedAction, request: ActionRequest) -> Answer:
        """Return the result as JSON, or as a page for a form that was sent without JavaScript."""
        if isinstance(result, Response):
            return result
        if isinstance(result, Refused):
            result = self._with_login(result, found)
        if asks_for_page(self.event):
            return await self._present_as_page(result, found, request)
        if isinstance(result, Redirect):
            return _success({"redirect": result.url}, result.invalidated, found.action.place)
        if isinstance(result, Refused):
            return refusal_reply(result)
        try:
            return _success(result.result, result.invalidated, found.action.place)
        except NotSerializable as error:
            log.error("%s", error)
            return refusal_reply(Refused(str(error) if self.site.development else UNEXPECTED, 500))

    async def _present_as_page(
        self,
        result: Succeeded | Refused | Redirect,
        found: NamedAction,
        request: ActionRequest,
    ) -> Answer:
        page = page_of(self.site, self.running, self.event, found)
        if isinstance(result, Succeeded):
            return page.leave(page.url)
        if isinstance(result, Redirect):
            return page.leave(result.url)
        if result.redirect is not None:
            return page.leave(result.redirect)
        return await page.again(found.action.name, result, await typed_values(request))


def _invalidated(result: Result, root: str) -> list[str]:
    """Return the URLs that the action named in `invalidate_routes`, without the ``root``."""
    named: Sequence[str] = ()
    if isinstance(result, Response):
        named = result.headers.get(INVALIDATE_HEADER, "").split(", ")
    elif isinstance(result, (Succeeded, Redirect)):
        named = result.invalidated
    return [url.removeprefix(root) if url.startswith(root + "/") else url for url in named]


def _success(result: Mapping[str, Any], invalidated: Sequence[str], place: str) -> Reply:
    """Return ``{ok: true, …}``; a returned ``ok`` never overrides the envelope."""
    body = encode({**result, "ok": True}, place=place)
    headers: list[Header] = [NO_STORE]
    if invalidated:
        headers.append((INVALIDATE_HEADER.encode(), ", ".join(invalidated).encode()))
    return Reply(200, body, JSON, headers)
