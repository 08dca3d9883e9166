"""Fixtures for pytest-trio: ``pytest_plugins = ["fxtrio.testing.fixtures"]`` in `conftest.py`.

Override `fx_root` and `fx_settings` where the defaults do not fit. A test that fails is
reported with its own error, and not with the groups of the nurseries around it.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Generator
from pathlib import Path
from typing import Any

import pytest
from pytest_trio import trio_fixture
from trio.abc import Clock

from fxtrio.testing.client import Client
from fxtrio.testing.open import open_app

_CLOCKS = ("autojump_clock", "mock_clock")  # fixtures of pytest-trio


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Reject a test that pytest-trio would run without the clock of its fixtures or marks."""
    if not isinstance(item, pytest.Function) or item.get_closest_marker("trio") is None:
        return
    clock = next((name for name in _CLOCKS if name in item.funcargs), "")
    own = (item.funcargs.get(name) for name in inspect.signature(item.obj).parameters)
    if clock and not any(isinstance(value, Clock) for value in own):
        pytest.fail(
            f"{item.name}: its fixtures or marks ask for '{clock}', and the test does not, so it "
            f"would run on the real clock. Add the parameter '{clock}' to the test.",
            pytrace=False,
        )


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """Take the one error of a test out of the groups that pytest-trio's nurseries make."""
    try:
        return (yield)
    except BaseExceptionGroup as group:
        inner: BaseException = group
        while isinstance(inner, BaseExceptionGroup) and len(inner.exceptions) == 1:
            inner = inner.exceptions[0]
        if inner is group:
            raise
        raise inner from inner.__cause__


@pytest.fixture
def fx_root(request: pytest.FixtureRequest) -> Path:
    """Return the project folder: the one pytest calls rootdir."""
    return request.config.rootpath


@pytest.fixture
def fx_settings() -> dict[str, Any]:
    """Return settings for the app, as keyword arguments of `open_app`."""
    return {}


@trio_fixture  # type: ignore[untyped-decorator]  # pytest-trio has no types
async def fx_client(fx_root: Path, fx_settings: dict[str, Any]) -> AsyncIterator[Client]:
    """Give a client of the app, which runs for the length of the test."""
    async with open_app(fx_root, **fx_settings) as client:
        yield client
