"""Loaders, actions and their results, as page files write them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, assert_type

import attrs
from starlette.requests import Request
from starlette.responses import Response

from fx.runtime import (
    ActionError,
    LoaderError,
    MatchedRoute,
    NotFound,
    ValidationActionError,
    action,
    invalidate_routes,
    redirect,
    route_of,
    server,
)
from fxtrio.errors import Redirect


@attrs.frozen
class Note:
    text: str


@server
async def load(request: Request) -> dict[str, list[Note]]:
    return {"notes": [Note("a")]}


@server(timeout=2, public=True)
async def load_in_time(request: Request) -> tuple[dict[str, int], int]:
    return {"count": 1}, 201


@action
async def add(request: Request, note: Note) -> dict[str, bool]:
    return {"added": True}


@action(timeout=5, limit="50MB", cancel_on_disconnect=True, transaction=True, tool=True)
async def save(request: Request, note: Note, tags: list[str]) -> Note:
    return note


async def calls(request: Request) -> None:
    """The decorators leave a function as it is."""
    assert_type(await load(request), dict[str, list[Note]])
    assert_type(await load_in_time(request), tuple[dict[str, int], int])
    assert_type(await add(request, Note("a")), dict[str, bool])
    assert_type(await save(request, Note("a"), ["b"]), Note)
    await add(request, "a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await save(request, Note("a"))  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def not_async(request: Request) -> dict[str, int]:
    return {}


server(not_async)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]
action(isolation="none")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]


async def results(request: Request) -> None:
    assert_type(redirect("/a"), Redirect)
    assert_type(redirect("/a", 307), Redirect)
    assert_type(invalidate_routes({"ok": 1}, "/a", "/b"), dict[str, Any])
    assert_type(invalidate_routes(Response(), "/a"), Response)
    assert_type(invalidate_routes(redirect("/a"), "/a"), Redirect)
    assert_type(route_of(request), MatchedRoute | None)


def failures() -> Sequence[Exception]:
    return [
        LoaderError("gone", 410, {"id": 1}),
        NotFound(),
        ActionError("taken", 409),
        ValidationActionError(fields={"name": ["too short"]}),
        NotFound(404),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ]


marked: Callable[[Request], Awaitable[dict[str, list[Note]]]] = load
