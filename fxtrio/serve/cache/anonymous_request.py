"""The visitor for whom a stored response is made: nobody in particular.

Its request has the URL and the host, and nothing else of whoever asked first: no
cookies, no other headers, no address. So what is kept can hold nothing of a visitor.
What code reads of such a request all the same would have been different for others:
it is written down, and then the response is not kept.
"""

from __future__ import annotations

from typing import Any

import attrs
from starlette.datastructures import Address, Headers, State
from starlette.requests import Request
from starlette.types import Receive, Scope

_PERSONAL = frozenset({"user", "session"})
"""What middleware puts on ``request.state`` about a visitor."""


@attrs.define(eq=False)
class Reads:
    """What code has read of the visitor, and whose code it was."""

    hook: str = ""
    """The route hook that runs; "" for the page and its layouts."""

    found: dict[str, set[str]] = attrs.field(factory=dict)
    """Hook, or "", to the names of what it has read."""

    def add(self, name: str) -> None:
        """Write down that ``name`` was read."""
        self.found.setdefault(self.hook, set()).add(name)

    def describe(self) -> str:
        """Say who has read what, and what to do about it; "" when nobody has read anything."""
        causes, remedies = [], []
        for hook, names in sorted(self.found.items()):
            reader = f"the route hook {hook}" if hook else "its code, or a layout's,"
            causes.append(f"{reader} reads {', '.join(sorted(names))}")
        if "" in self.found:
            remedies.append("load what differs in the browser")
        if self.found.keys() - {""}:
            remedies.append("let the hook decide by the path alone")
        return not_shared(" and ".join(causes), " and ".join(remedies)) if causes else ""


def not_shared(cause: str, remedy: str = "load what differs in the browser") -> str:
    """Return why a response is not kept, and what to do about it."""
    return f"{cause}. A kept response is the same for everybody: {remedy}, or remove CACHE."


class AnonymousRequest(Request):
    """The request that hooks and loaders get when a response is to be stored.

    ``reads`` takes what they read of the visitor.
    """

    def __init__(self, scope: Scope, receive: Receive, reads: Reads) -> None:
        super().__init__(scope, receive)
        self._reads = reads

    @property
    def headers(self) -> Headers:
        """The headers: whichever is read, others may send another."""
        self._reads.add("request.headers")
        return super().headers

    @property
    def cookies(self) -> dict[str, str]:
        """No cookies."""
        self._reads.add("request.cookies")
        return {}

    @property
    def client(self) -> Address | None:
        """No address."""
        self._reads.add("request.client")
        return None

    @property
    def session(self) -> dict[Any, Any]:
        """The session of nobody, if the app has sessions."""
        self._reads.add("request.session")
        return super().session

    @property
    def user(self) -> Any:
        """The user that middleware gives to nobody."""
        self._reads.add("request.user")
        return super().user

    @property
    def auth(self) -> Any:
        """What middleware allows to nobody."""
        self._reads.add("request.auth")
        return super().auth

    @property
    def state(self) -> State:
        """The state, of which ``user`` and ``session`` are the visitor's."""
        return _WatchedState(self.scope["state"], self._reads)


class _WatchedState(State):
    def __init__(self, state: dict[str, Any], reads: Reads) -> None:
        super().__init__(state)
        object.__setattr__(self, "_reads", reads)

    def __getattr__(self, key: Any) -> Any:
        if key in _PERSONAL:
            self._reads.add(f"request.state.{key}")
        return super().__getattr__(key)

    def __getitem__(self, key: str) -> Any:
        if key in _PERSONAL:
            self._reads.add(f"request.state.{key}")
        return super().__getitem__(key)
