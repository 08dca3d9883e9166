"""What ours says in an ASGI scope beyond the standard: names that both sides agree on."""

from __future__ import annotations

from urllib.parse import quote

from starlette.types import Scope

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

SAME_FOR_ALL = "fx.same-for-all"
"""Key in the scope of a request that a static file answers: its answer depends on nobody.

Whoever keeps answers for signed-in users out of caches leaves such a one alone.
"""

OWN_SERVER = "fx.server"
"""Key in ``scope["extensions"]`` of the lifespan in servers of ours, which need no guard."""

START_REFUSED = "fx.start-refused"
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
