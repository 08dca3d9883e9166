"""Route hooks, which run before a page, action, endpoint or WebSocket."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec.structs import force_setattr
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Scope

from fxtrio.callables import awaitable
from fxtrio.config import Config
from fxtrio.errors import (
    ActionError,
    DottedNameUnknown,
    LoaderError,
    Redirect,
    ValueInvalid,
    described,
    forgotten_await,
)
from fxtrio.routes.matched import GUARDS, FileKind, HookList, RouteKind
from fxtrio.serve.request.audience import Audience
from fxtrio.serve.request.event import PagePath
from fxtrio.serve.request.response.unwrap import find_invalid_error, require_status
from fxtrio.spans import span


class RouteHookInvalid(ValueInvalid):
    """A route hook cannot be called with the request, or returned an invalid value.

    ``cause`` describes the error; "" when the invalid value is ``returned``.
    """

    remedy = (
        "Make it a function of the request that returns None to let it continue, or a Response "
        "or redirect(…) to respond to it"
    )

    def __init__(self, name: str, cause: str = "", *, returned: object = None) -> None:
        returns = f"returned {forgotten_await(returned) or described(returned)}"
        super().__init__(f"route hook {name!r}", cause or returns, self.remedy)


class Hook(msgspec.Struct, frozen=True):
    """A route hook."""

    name: str
    """Its name in the settings."""

    function: Callable[[HTTPConnection], object]
    """Application code: None accepts the request; any other value is the response."""

    call: Callable[[HTTPConnection], Awaitable[object]]
    """Calls it: in a worker thread, unless it is ``async def``."""

    def takes(self, connection: HTTPConnection) -> str:
        """Return why the function cannot be called with the request alone, "" when it can."""
        try:
            inspect.signature(self.function).bind(connection)
        except TypeError as error:
            return f"cannot be called with the request alone: {error}"
        except ValueError:  # of some functions that are written in C
            return ""
        return ""


class Hooks(msgspec.Struct, frozen=True):
    """Route hooks by the kind of route they guard, outermost first."""

    pages: tuple[Hook, ...] = ()
    actions: tuple[Hook, ...] = ()
    apis: tuple[Hook, ...] = ()
    websockets: tuple[Hook, ...] = ()
    base_url: str = ""
    _before: dict[tuple[FileKind, RouteKind], tuple[Hook, ...]] = msgspec.field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        lists: dict[HookList, tuple[Hook, ...]] = {
            "pages": self.pages,
            "actions": self.actions,
            "apis": self.apis,
            "websockets": self.websockets,
        }
        before = {
            form: tuple(hook for one in guards for hook in lists[one])
            for form, guards in GUARDS.items()
        }
        force_setattr(self, "_before", before)  # `replace` gives a copy the dict of the original

    def before(self, file: FileKind, form: RouteKind) -> tuple[Hook, ...]:
        """Return the hooks that guard one form of one kind of file, outermost first."""
        return self._before[file, form]


async def run_hooks(
    hooks: tuple[Hook, ...], connection: HTTPConnection, audience: Audience
) -> Response | Redirect | None:
    """Run route hooks, outermost first; the first that returns a response ends the sequence.

    Raises RouteHookInvalid, and what the hooks raise.
    """
    for hook in hooks:
        try:
            audience.ask(hook.name)
            with span("hook", hook.name):
                answer = await _call_hook(hook, connection)
        except Redirect as redirect:
            return redirect
        finally:
            audience.ask("")
        if answer is not None:
            return answer
    return None


async def _call_hook(hook: Hook, connection: HTTPConnection) -> Response | Redirect | None:
    """Return the response of one hook; None if it accepts the request."""
    try:
        answer = await hook.call(connection)
    except TypeError:
        if cause := hook.takes(connection):
            raise RouteHookInvalid(hook.name, cause) from None
        raise
    except (LoaderError, ActionError, HTTPException) as error:
        if invalid := find_invalid_error(error, f"route hook {hook.name!r}"):
            raise invalid from error
        raise
    if isinstance(answer, Response):
        require_status(answer.status_code, f"route hook {hook.name!r}")
    if answer is None or isinstance(answer, (Response, Redirect)):
        return answer
    raise RouteHookInvalid(hook.name, returned=answer)


async def run_page_hooks(
    hooks: Hooks,
    scope: Scope,
    path: PagePath,
    connect: Callable[[Scope], HTTPConnection],
    audience: Audience,
) -> Response | Redirect | None:
    """Run the page hooks for another representation of the page at ``path``.

    The hooks see the page's own URL, never that of its Markdown or its action: a hook that
    guards a path guards all of them. ``connect`` builds the connection from a scope; values
    that hooks put into the scope remain there.
    """
    if not hooks.pages:
        return None
    base_url = hooks.base_url
    url = base_url + path.path if path.path != "/" else base_url or "/"
    place = {"path": url, "raw_path": path.url(base_url).encode("latin-1")}
    seen = {**scope, **place}
    answer = await run_hooks(hooks.pages, connect(seen), audience)
    scope.update({name: value for name, value in seen.items() if name not in place})
    return answer


def hooks_of(config: Config, resolve: Callable[[str], Any]) -> Hooks:
    """Return the hooks named in the settings. Raises what ``resolve`` raises for a name."""

    def named(names: tuple[str, ...]) -> tuple[Hook, ...]:
        functions = [(name, resolve(name)) for name in names]
        return tuple(Hook(name, function, awaitable(function)) for name, function in functions)

    settings = config.route_middleware
    return Hooks(
        pages=named(settings.pages),
        actions=named(settings.actions),
        apis=named(settings.apis),
        websockets=named(settings.websockets),
        base_url=config.base_url,
    )


def early_hooks_of(config: Config, resolve: Callable[[str], Any]) -> Hooks:
    """Return the hooks of an app that has not started, which reject all where they are unknown.

    `hooks_of` takes their place at the start.
    """

    def resolve_early(name: str) -> Any:
        try:
            return resolve(name)
        except DottedNameUnknown as error:
            unknown = error

        async def reject(_: HTTPConnection) -> None:
            raise unknown

        return reject

    return hooks_of(config, resolve_early)
