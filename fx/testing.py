"""A whole app in process, for tests."""

from fxtrio.testing import *  # noqa: F403  # its `__all__` is the list
from fxtrio.testing import __all__ as __all__
