"""fxtrio: pages of Python and React on structured concurrency.

Importing it costs nothing: each name is imported at its first use.
"""

TYPE_CHECKING = False  # typing takes long to import, and Ctrl-C would show a traceback

if TYPE_CHECKING:
    from fxtrio.app import create_app as create_app

__all__ = ["__version__", "create_app"]

__version__ = "0.1.0"  # the distribution's, which is built with it

if not TYPE_CHECKING:  # for which every name would exist then

    def __getattr__(name: str) -> object:
        """Import what ``name`` stands for."""
        if name == "create_app":
            from fxtrio.app import create_app

            return create_app
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
