"""fxtrio: pages of Python and React on structured concurrency."""

from importlib.metadata import version

__version__ = version("fxtrio")

__all__ = ["__version__"]
