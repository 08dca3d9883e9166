"""Options of pytest for simulations. Pytest loads it, so that it imports next to nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fxtrio.simulation.simulate import Seeds


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add ``--fx-seed`` and ``--fx-seeds``, and let Python import the package as it does elsewhere.

    Pytest rewrites the assertions of everything that is installed together with a plugin. For this
    package that takes some seconds once, and a twentieth of the collection of tests in each run.
    """
    rewriting = getattr(pluginmanager.rewrite_hook, "_must_rewrite", None)
    if isinstance(rewriting, set):  # there is no public way, and without it all is as usual
        rewriting -= {"fx", "fxtrio"}
    group = parser.getgroup("fxtrio", "simulations")
    group.addoption(
        "--fx-seed", type=int, default=None, metavar="N", help="simulate this seed alone"
    )
    group.addoption(
        "--fx-seeds",
        type=int,
        default=None,
        metavar="N",
        help="simulate N seeds of each test",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Share the seeds of a test out among the workers of pytest-xdist."""
    if "fx_seeds" not in metafunc.fixturenames:
        return
    config = metafunc.config
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers > 1 and config.getoption("--fx-seed") is None:
        shares = [f"share-{number + 1}-of-{workers}" for number in range(workers)]
        metafunc.parametrize("fx_seeds", range(workers), ids=shares, indirect=True)


@pytest.fixture
def fx_seeds(request: pytest.FixtureRequest) -> Seeds:
    """Return the seeds that a simulated test runs."""
    from fxtrio.simulation.simulate import Seeds

    option = request.config.getoption
    workers = getattr(request.config, "workerinput", {}).get("workercount", 1)
    share = getattr(request, "param", None)
    shares = (0, 1) if share is None else (share, workers)
    return Seeds(option("--fx-seeds"), option("--fx-seed"), *shares)


def pytest_unconfigure() -> None:
    """Remove what simulations have compiled."""
    loaded = sys.modules.get("fxtrio.simulation.simulate")
    if loaded is not None:
        loaded.close_all()
