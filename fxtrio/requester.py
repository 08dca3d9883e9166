"""Whose request the running code works for, as error reports name it and jobs store it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import msgspec

from fxtrio.context import RequestContext
from fxtrio.routes.matched import SCOPE_KEY, STARLETTE_KEY, MatchedRoute

_LONGEST_USER = 200  # characters of an id that are stored with a job

log = logging.getLogger("fx.errors")


class Requester(msgspec.Struct, frozen=True, array_like=True):
    """A request as it is named elsewhere: no URL, header or body is in it."""

    method: str = ""
    route: str = ""
    """The pattern of the route, such as ``/book/[id]``; "" if none is known."""

    user_id: str | None = None
    """Of the account that is signed in."""


NOWHERE = Requester()
"""Of what no request has begun: schedules, plugins, the start of the app."""


def requester_of(context: RequestContext | None) -> Requester:
    """Return the requester of ``context``, as far as it is known by now.

    A durable job belongs to the request that enqueued it.
    """
    if context is None:
        return NOWHERE
    scope = context.scope
    if scope is None:
        return context.requester or NOWHERE
    return Requester(scope.get("method", ""), _route(scope), _user_id(scope))


def encode_requester(context: RequestContext | None) -> str | None:
    """Return what a job stores of the request that enqueues it; None outside of requests."""
    found = requester_of(context)
    if found == NOWHERE:
        return None
    if found.user_id is not None and len(found.user_id) > _LONGEST_USER:
        found = Requester(found.method, found.route)
    return msgspec.json.encode(found).decode()


def decode_requester(stored: str | None) -> Requester:
    """Return what `encode_requester` has returned; `NOWHERE` for anything else."""
    if stored is None:
        return NOWHERE
    try:
        return msgspec.json.decode(stored, type=Requester)
    except msgspec.MsgspecError:  # of a later version
        return NOWHERE


def _route(scope: Mapping[str, Any]) -> str:
    matched = scope.get(SCOPE_KEY)
    if isinstance(matched, MatchedRoute):
        return matched.pattern or ""
    return str(scope.get(STARLETTE_KEY, ""))


def _user_id(scope: Mapping[str, Any]) -> str | None:
    user = (scope.get("state") or {}).get("user")
    try:
        found = getattr(user, "id", None)
        return None if found is None else str(found)
    except Exception as error:  # the application's class; a report without it is worth more
        log.warning("the id of the user cannot be read: %r", error)
        return None
