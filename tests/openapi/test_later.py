"""Under `fx dev` the document follows, after everything else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from fxtrio.config import Config
from fxtrio.develop.build.openapi_refresh import DescribedLater
from fxtrio.tools.openapi import describe
from fxtrio.tools.openapi.describe import NotDescribed


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The times at which a document was generated."""
    times: list[float] = []

    async def describe_into(root: Path, config: Config, folder: Path) -> None:
        times.append(trio.current_time())
        if config.name == "broken":
            raise NotDescribed("pages/index.fxl: it cannot be imported. Correct it.")

    monkeypatch.setattr(describe, "describe_into", describe_into)
    return times


async def follow(report: Callable[[str], None], *saves: tuple[float, Config]) -> None:
    """Save some times, each after so many seconds, and wait for all that comes of it."""
    async with trio.open_nursery() as nursery:
        later = DescribedLater()
        for seconds, config in saves:
            await trio.sleep(seconds)
            later.look_later(Path(), config, nursery, report)


async def test_several_saves_in_a_row_make_one_document(
    described: list[float], autojump_clock: MockClock
) -> None:
    on = Config(openapi=True)
    await follow(print, (0, on), (0.1, on), (0.1, on), (5, on))
    assert described == [pytest.approx(0.7), pytest.approx(5.7)]


async def test_nothing_is_generated_where_nothing_is_served(
    described: list[float], autojump_clock: MockClock
) -> None:
    await follow(print, (0, Config()))
    assert described == []


async def test_what_cannot_be_imported_is_reported(
    described: list[float], autojump_clock: MockClock
) -> None:
    messages: list[str] = []
    await follow(messages.append, (0, Config(openapi=True, name="broken")))
    assert messages == [
        "/openapi.json is unchanged. pages/index.fxl: it cannot be imported. Correct it."
    ]
