"""Processes that serve an ASGI application: what the command `fx serve` runs."""

from fxtrio.supervise.options import ServeOptions
from fxtrio.supervise.start import serve

__all__ = ["ServeOptions", "serve"]
