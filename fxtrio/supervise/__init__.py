"""Processes that serve an ASGI application: what the command `fx serve` runs.

Begin with `start`. `supervisor` keeps worker processes, `server_process` is one process that
serves, and `server` its connections, each of which `fxtrio.http1` speaks with.
"""

from fxtrio.supervise.options import ServeOptions
from fxtrio.supervise.start import serve

__all__ = ["ServeOptions", "serve"]
