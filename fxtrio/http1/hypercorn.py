"""Puts `Connection` into Hypercorn's own trio server, for those who start that themselves."""

from __future__ import annotations

import hypercorn.trio.run

from fxtrio.http1.connection import Connection


def use_in_hypercorn() -> None:
    """Have `hypercorn.trio.serve` in this process answer HTTP/1.1 and WebSocket with ours.

    Limits come from the config's attribute ``limits`` (a `ServerLimits`), if it has
    one. Accepting, TLS, the lifespan and the end stay Hypercorn's: it accepts without
    a limit on connections.
    """
    setattr(hypercorn.trio.run, "TCPServer", Connection)  # noqa: B010  # not exported by name
