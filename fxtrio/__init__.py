"""fxtrio: pages of Python and React on structured concurrency."""

from typing import Any

__all__ = ["__version__"]


def __getattr__(name: str) -> Any:
    """Look the version up when it is asked for: importing what reads it takes long."""
    if name == "__version__":
        from importlib.metadata import version

        return version("fxtrio")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
