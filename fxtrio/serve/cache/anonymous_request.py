"""The anonymous request for which a cached response is rendered.

It has the URL and the host, but no cookies, no other headers and no address of the visitor
who came first, so a cached response cannot contain personal data. If code reads such a value
all the same, the result would differ between visitors: the read is recorded, and the response
is not cached.
"""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.datastructures import Address, Headers, State
from starlette.requests import Request
from starlette.types import Receive, Scope

_ITEMS = frozenset({"headers", "client", "session", "user", "auth"})
"""Keys of the scope, which a request has as items, too, that are the visitor's."""

_PERSONAL = frozenset({"user", "session"})
"""Attributes of ``request.state`` in which middleware stores the visitor."""


class Reads(msgspec.Struct, eq=False):
    """The visitor's data that code has read, by the hook that read it."""

    hook: str = ""
    """The route hook that runs; "" for the page and its layouts."""

    found: dict[str, set[str]] = msgspec.field(default_factory=dict)
    """Name of the hook, or "", to the names that it read."""

    def add(self, name: str) -> None:
        """Write down that ``name`` was read."""
        self.found.setdefault(self.hook, set()).add(name)

    def describe(self) -> str:
        """Describe which code read what, with the remedy; "" if nothing was read."""
        causes, remedies = [], []
        for hook, names in sorted(self.found.items()):
            reader = f"the route hook {hook}" if hook else "its code, or a layout's,"
            causes.append(f"{reader} reads {', '.join(sorted(names))}")
        if "" in self.found:
            remedies.append("load the data that differs in the browser")
        if self.found.keys() - {""}:
            remedies.append("let the hook use only the path")
        return not_shared(" and ".join(causes), " and ".join(remedies)) if causes else ""


def not_shared(cause: str, remedy: str = "load the data that differs in the browser") -> str:
    """Return why a response is not cacheable, and the remedy."""
    return f"{cause}. A cached response is the same for all visitors: {remedy}, or remove CACHE."


class AnonymousRequest(Request):
    """The request that hooks and loaders receive when the response is to be cached.

    ``reads`` records which data of the visitor they read.
    """

    def __init__(self, scope: Scope, receive: Receive, reads: Reads) -> None:
        super().__init__(scope, receive)
        self._reads = reads

    def __getitem__(self, key: str) -> Any:
        if key in _ITEMS:
            self._reads.add(f"request.{key}")
        return super().__getitem__(key)

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
        """The empty session of an anonymous visitor, if the app has sessions."""
        self._reads.add("request.session")
        return super().session

    @property
    def user(self) -> Any:
        """The user that middleware assigns to an anonymous visitor."""
        self._reads.add("request.user")
        return super().user

    @property
    def auth(self) -> Any:
        """The permissions that middleware grants an anonymous visitor."""
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
