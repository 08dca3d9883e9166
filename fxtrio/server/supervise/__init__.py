"""Processes that serve an ASGI application: what the command `fx serve` runs.

Begin with `start`. `supervisor` keeps worker processes, `server_process` is one process that
serves, and `server` its connections, each of which `fxtrio.server.http1` speaks with.

What it offers is imported when it is asked for: `fx dev` needs a small part of it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fxtrio.server.supervise.options import ServeOptions as ServeOptions
    from fxtrio.server.supervise.start import serve as serve

__all__ = ["ServeOptions", "serve"]

if not TYPE_CHECKING:  # for which every name would exist then

    def __getattr__(name: str) -> object:
        """Import what ``name`` stands for."""
        if name == "ServeOptions":
            from fxtrio.server.supervise.options import ServeOptions

            return ServeOptions
        if name == "serve":
            from fxtrio.server.supervise.start import serve

            return serve
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
