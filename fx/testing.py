"""A whole app in process, for tests: one run, or one for each seed of a simulation."""

from fxtrio.simulation.faults import Faults
from fxtrio.simulation.simulate import simulate
from fxtrio.simulation.world import Visitors, World
from fxtrio.testing import *  # noqa: F403  # its `__all__` is most of the list
from fxtrio.testing import __all__ as _of_testing
from fxtrio.testing.responses import ConnectionLost

__all__ = [*_of_testing, "ConnectionLost", "Faults", "Visitors", "World", "simulate"]
