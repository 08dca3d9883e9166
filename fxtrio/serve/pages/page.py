"""A page, in each of its forms: loaders, then HTML or the navigation payload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import trio
from starlette.requests import Request

from fxtrio.errors import (
    DeadlinePassed,
    LoaderError,
    Redirect,
    RouteHookMistaken,
    SsrBusy,
    SsrDown,
)
from fxtrio.serve.pages.buffered import buffer_page
from fxtrio.serve.pages.failure import NOT_FOUND, log_failure, plain_problem, problem_of
from fxtrio.serve.pages.loaders import Failed, Loaded, Values, load, unwrap
from fxtrio.serve.pages.payload import Problem, ViewPlan, encode_params, encode_requested
from fxtrio.serve.pages.site import Running, Site, log
from fxtrio.serve.pages.stream import stream_page
from fxtrio.serve.request.event import Visit
from fxtrio.serve.request.hooks import csrf_cookie, run_hooks
from fxtrio.serve.request.reply import (
    HTML,
    JSON,
    NO_STORE,
    PRIVATE,
    Answer,
    Header,
    Reply,
    redirected,
)
from fxtrio.serve.request.watchdog import Watched
from fxtrio.ssr.frames import Rendered


@attrs.frozen
class Target:
    """What a URL led to: a view, and how the URL names it."""

    plan: ViewPlan
    route: bytes
    """The pattern as JSON; ``null`` for a URL that no route answers."""

    params: Mapping[str, str]


@attrs.frozen(eq=False)
class PageVisit:
    """A visit to a page. `answer` is the whole of it; actions use `load_and_show`."""

    site: Site
    running: Running
    visit: Visit
    target: Target
    request: Request

    async def answer(self) -> Answer | None:
        """Return the page in the form the client asked for; None when the client has left."""
        cache = self.running.cache
        if cache is not None and not self.site.hooks.pages:
            kept = cache.find(self, self._form)
            if kept is not None:  # without a scope or a task
                return kept
        limit = self.site.config.timeouts.request
        passed = False
        with self.running.watchdog.watch(self.visit.receive, limit=limit) as watched:
            try:
                refusal = await run_hooks(self.site.hooks.pages, self.request, self.visit.audience)
                if refusal is not None:
                    return redirected(refusal, navigation=self.visit.navigation)
                passed = True
                self.visit.audience.admit(self.visit.draft)
                made = None if cache is None else await cache.obtain(self, self._form)
                return made or await self.load_and_show(watched=watched)
            except (LoaderError, RouteHookMistaken) as error:  # raised by a hook, or for it
                return await self.show_failure("", error, {}, guarded=False)
        if watched.gone:
            return None
        if watched.culprit is not None:
            loader = watched.culprit
            late = DeadlinePassed(loader.place, loader.timeout)
            return await self._show_late(late, loader.source)
        late = DeadlinePassed(self.target.plan.view.module, limit)
        return await self._show_late(late, guarded=passed)

    @property
    def _form(self) -> bytes:
        return b"navigation" if self.visit.navigation else b"html"

    async def answer_not_found(self) -> Answer | None:
        """Return the target, a not-found view, for a URL that nothing answers.

        Whom the route hooks refuse gets the nearest view that can do without loaders.
        """
        limit = self.site.config.timeouts.request
        with self.running.watchdog.watch(self.visit.receive, limit=limit) as watched:
            plan = self.target.plan
            if plan.loaders and not await self._may_pass():
                return await self._stand_in("", NOT_FOUND, {}, guarded=False)
            shown = await self._show_boundary(plan, {}, NOT_FOUND)
            return shown or plain_problem(self.site, self.visit, NOT_FOUND)
        return None if watched.gone else plain_problem(self.site, self.visit, NOT_FOUND)

    async def _may_pass(self) -> bool:
        """Whether the route hooks let the visitor pass, so that loaders may run for them."""
        try:
            return await run_hooks(self.site.hooks.pages, self.request, self.visit.audience) is None
        except Exception as error:  # application code
            log_failure(unwrap(error), self.target.plan.view.module)
            return False

    async def load_and_show(
        self,
        *,
        status: int | None = None,
        action_data: Mapping[str, Any] | None = None,
        watched: Watched | None = None,
    ) -> Answer:
        """Run the loaders and show the view, or the boundary that stands in for it.

        ``status`` replaces the page's own; ``action_data`` is what a form's action
        answered.
        """
        plan = self.target.plan
        if plan.view.streams and action_data is None and not self.visit.navigation:
            return await (stream_page(self) if self.visit.audience.streams else buffer_page(self))
        outcome = await load(plan.loaders, self.request, page=plan.view.module, watched=watched)
        if isinstance(outcome, Redirect):
            return redirected(outcome, navigation=self.visit.navigation)
        if isinstance(outcome, Failed):
            return await self.show_failure(outcome.source, outcome.error, outcome.values)
        try:
            return await self._show(
                plan,
                outcome.values,
                status=outcome.status if status is None else status,
                action_data=action_data,
            )
        except Exception as error:  # HEAD functions, encoders and renders run application code
            return await self.show_failure("", unwrap(error), outcome.values)

    async def _show_late(
        self, error: DeadlinePassed, source: str = "", *, guarded: bool = True
    ) -> Answer:
        """Show that the request took too long; that, too, has a deadline."""
        with trio.move_on_after(self.site.config.timeouts.render):
            return await self.show_failure(source, error, {}, guarded=guarded)
        problem = problem_of(error, development=self.site.development)
        return plain_problem(self.site, self.visit, problem)

    async def show_failure(
        self, source: str, error: BaseException, values: Values, *, guarded: bool = True
    ) -> Answer:
        """Show the nearest boundary that does not need what failed; the built-in page at last.

        ``source`` is the layout or page whose loader failed, "" when something else did.
        No loader runs for a visitor whom the route hooks have not let pass (``guarded``).
        """
        log_failure(error, source or self.target.plan.view.module)
        problem = problem_of(error, development=self.site.development)
        if isinstance(error, SsrBusy):
            return plain_problem(self.site, self.visit, problem)
        return await self._stand_in(source, problem, values, guarded=guarded)

    async def _stand_in(
        self, source: str, problem: Problem, values: Values, *, guarded: bool
    ) -> Answer:
        """Show ``problem`` as `show_failure` does, without a word in the log."""
        for boundary in self.boundaries(problem.status):
            if source in boundary.view.layouts or (boundary.loaders and not guarded):
                continue
            shown = await self._show_boundary(boundary, values, problem)
            if shown is not None:
                return shown
        return plain_problem(self.site, self.visit, problem)

    async def _show_boundary(
        self, boundary: ViewPlan, values: Values, problem: Problem
    ) -> Answer | None:
        """Show one boundary with the data of its layouts; None when it fails too."""
        missing = [loader for loader in boundary.loaders if loader.source not in values]
        outcome = await load(missing, self.request, page="")
        if isinstance(outcome, Redirect):
            return redirected(outcome, navigation=self.visit.navigation)
        if not isinstance(outcome, Loaded):
            log_failure(outcome.error, outcome.source)
            return None
        known = {**values, **outcome.values}
        try:
            return await self._show(boundary, known, status=problem.status, problem=problem)
        except Exception as error:  # an error page is application code too
            log_failure(error, boundary.view.module)
            return None

    def boundaries(self, status: int) -> Iterator[ViewPlan]:
        """Yield the views that may stand in, nearest folder first; not-found ones for a 404."""
        plans = self.site.plans
        view = self.target.plan.view
        ids = list(view.boundaries)
        if status == 404:
            ids = sorted({*ids, *view.not_found}, key=lambda id: _nearness(plans[id]))
        return (plans[id] for id in ids if id != view.id)

    async def _show(
        self,
        plan: ViewPlan,
        values: Values,
        *,
        status: int,
        problem: Problem | None = None,
        action_data: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Return the view in the form the client asked for. Raises what the render raises."""
        site = self.site
        state = self.state(plan, values, status=status, problem=problem, action_data=action_data)
        if self.visit.navigation:
            return Reply(status, state, JSON, [NO_STORE, site.vary])
        frame = site.frames[plan.view.id]
        nonce = self.visit.audience.nonce()
        try:
            rendered = await self._render(plan, state)
        except SsrDown as error:
            log.error("%s: %s The browser renders it.", plan.view.module, error)
            rendered = Rendered(b"", b"")
            self.visit.audience.leave_to_browser()
        body = frame.whole(rendered, state, nonce)
        return Reply(status, body, HTML, self.html_headers(nonce))

    def state(
        self,
        plan: ViewPlan,
        values: Values,
        *,
        status: int,
        problem: Problem | None = None,
        action_data: Mapping[str, Any] | None = None,
        deferred: bool = False,
    ) -> bytes:
        """Return the page state of a view for this visit. Raises what `StateEncoder` raises."""
        ttl = 0.0
        if self.visit.navigation:
            ttl = self.visit.audience.time_to_live(self.target.plan.revalidate)
        return self.site.encoder.encode(
            plan,
            values,
            route=self.target.route,
            requested=encode_requested(self.visit.requested),
            params=encode_params(self.target.params),
            status=status,
            ttl=ttl,
            problem=problem,
            action_data=action_data,
            # The placeholder is this process's secret: it must not leave without being replaced.
            nonce=b"" if self.visit.navigation else self.site.nonce,
            deferred=deferred,
        )

    def html_headers(self, nonce: bytes) -> list[Header]:
        """Return the headers of an HTML response, besides its type and length."""
        site = self.site
        headers = [PRIVATE, site.vary, *site.standard.of_html(nonce)]
        if site.llms_link is not None:
            headers.append(site.llms_link)
        # One visitor's proof is nothing for the others.
        if self.visit.draft.shared or not self.visit.audience.personal:
            return headers
        return headers + csrf_cookie(site, self.visit, self.request)

    async def _render(self, plan: ViewPlan, state: bytes) -> Rendered:
        """Render a state, or return what an equal state was rendered to before."""
        view = plan.view.id
        memo = self.site.memo
        if memo is None or not plan.memo:
            return await self.running.renderer.render(view, state)
        now = trio.current_time()
        rendered = memo.find(view, state, now)
        if rendered is None:
            rendered = await self.running.renderer.render(view, state)
            memo.keep(view, state, rendered, now)
        return rendered


def _nearness(plan: ViewPlan) -> tuple[int, int, int]:
    view = plan.view
    return -view.module.count("/"), 0 if view.kind == "not-found" else 1, -len(view.layouts)
