"""What page files import. Every name here lives in `fxtrio`."""

from fxtrio import __version__

__all__ = ["__version__"]
