"""What ours says in an ASGI scope beyond the standard: names that both sides agree on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Protocol
from urllib.parse import quote

from starlette.types import ASGIApp, Message, Scope

SAFE_IN_PATHS = "/!$&'()*+,;=:@"
"""Characters that browsers do not encode in a path (RFC 3986, 3.3)."""

RAW_FRAMES = "fx.websocket.frames"
"""Key in ``scope["extensions"]`` of servers that take frames as bytes.

Its value is ``{"send": send, "write": write}``. ``await send(data)`` writes one or
more whole unmasked frames behind everything sent before. ``write(data)`` does so
without waiting, and returns False when the next ``send`` has to finish it. Both raise
OSError once the client has disconnected. Valid from ``websocket.accept`` to ``websocket.close``;
not offered when the handshake agreed on an extension that changes frames, such as
compression.
"""

WHOLE_RESPONSE = "fx.http.response.whole"
"""Key in ``scope["extensions"]`` of servers that take a whole response in one call.

Its value is a `WholeResponse`, which also takes single parts of a body without waiting. Only
code that got the server's own ``send`` may use it, since middleware between them would not see
the response.
"""


class WholeResponse(Protocol):
    """Where a complete response goes, instead of two ASGI messages."""

    async def send(self, message: Message) -> None:
        """Take an ASGI message: the ``send`` of the scope."""
        ...

    def __call__(self, status: int, lines: Iterable[bytes], body: bytes) -> bool:
        """Send a response without waiting; return whether it is out, else `flush` must follow.

        ``lines`` are the header lines in pieces, each line with its CR LF, checked by the caller,
        without ``content-length`` and other fields that frame a message or are the server's. The
        status is one of responses with a body, which is left out here for HEAD.
        """
        ...

    def write_part(self, body: bytes) -> bool:
        """Send one more part of a response whose head is out, without waiting.

        Returns whether it is out, else `flush` must follow. A part for a client that has
        disconnected is discarded. Nothing may be sent by ``send`` at the same time.
        """
        ...

    def take_body(self, most: int) -> bytes | None:
        """Return the request's body if all of it has come, in place of `receive`.

        None for one of more than ``most`` bytes, and once `receive` was called.
        """
        ...

    async def flush(self) -> None:
        """Wait until it is out, or its client cannot be reached."""
        ...

    interrupts: bool
    """Whether `interrupt` may be called: not where something around the call must see its end."""

    def interrupt(self, reason: str) -> None:
        """Cancel the application's call, by the cancel scope of its connection.

        The scope is there for all requests of the connection, so that none needs its own. Once
        the call has ended, however it does, `resume` is awaited in its place.
        """
        ...

    resume: Callable[[], Awaitable[None]] | None
    """Answers the request after `interrupt`; None leaves that to the server."""


IN_PROCESS = "fx.in-process"
"""Key in the scope of a request that the app makes of itself, for a client that is no browser.

It has no cookie, so no visitor's browser can have been led to send it: it needs no proof of its
origin.
"""

SAME_FOR_ALL = "fx.same-for-all"
"""Key in the scope of a request that a static file answers: its answer depends on nobody.

Whoever keeps answers for signed-in users out of caches leaves such a one alone.
"""


def without_frame(app: ASGIApp) -> ASGIApp:
    """Return what a server calls in place of ``app`` to serve as it does.

    An app of fxtrio has a method that returns what is to be awaited, so that its own coroutine need
    not be around each request. What is around such an app is called as it is, and so is one whose
    class has another ``__call__``.
    """
    method = _without_frame.get(type(app).__call__)
    return app if method is None else method.__get__(app)


def offer_without_frame(call: object, method: Any) -> None:
    """Let servers call ``method`` of an app whose class has ``call`` as its ``__call__``."""
    _without_frame[call] = method


_without_frame: dict[object, Any] = {}


OWN_SERVER = "fx.server"
"""Key in ``scope["extensions"]`` of the lifespan in servers of ours, which need no guard."""

START_REJECTED = "fx.start-refused"
"""Key in a ``lifespan.startup.failed`` whose ``message`` is all that there is to say: what is
wrong stays so until somebody acts, and another attempt to start cannot succeed."""

ROOT = "fx.root"
"""Key in the scope of a request to an app that is mounted below another's path.

The ``root_path`` as it was when the request came to the app, without a slash at its end:
routes within the app put their own prefix behind theirs. ``path`` and ``raw_path`` begin
with it.
"""


def root_of(scope: Scope) -> str:
    """Return the path that the app is mounted at, "" for the root."""
    root: str = scope.get(ROOT, "")
    return root


def url_of_root(scope: Scope) -> str:
    """Return the same as it stands in URLs: a name of a mount may be any text."""
    return quote(root_of(scope), safe=SAFE_IN_PATHS)
