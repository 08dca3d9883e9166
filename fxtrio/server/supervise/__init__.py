"""The processes of `fx serve`, which serve an ASGI application.

Begin with `start`. `supervisor` runs worker processes, `server_process` is one serving
process, and `server` its connections, which `fxtrio.server.http1` handles.

Its names are imported on first use: `fx dev` needs only a few of them.
"""

TYPE_CHECKING = False  # typing takes long to import, and Ctrl-C would show a traceback

if TYPE_CHECKING:
    from fxtrio.server.supervise.options import ServeOptions as ServeOptions
    from fxtrio.server.supervise.start import serve as serve

__all__ = ["ServeOptions", "serve"]

if not TYPE_CHECKING:  # for which every name would exist then

    def __getattr__(name: str) -> object:
        """Import ``name`` from its module."""
        if name == "ServeOptions":
            from fxtrio.server.supervise.options import ServeOptions

            return ServeOptions
        if name == "serve":
            from fxtrio.server.supervise.start import serve

            return serve
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
