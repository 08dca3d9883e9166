"""`/openapi.json` in tests of apps: generated at the first request, once, with any clock."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from fx.testing import open_app
from fxtrio.testing import clock
from fxtrio.tools.openapi import describe
from tests.trees import page, write_tree

NOTED = """
    import os
    import time

    if os.environ.get("FX_MODE") == "check":
        with open("imported", "a") as file:
            file.write("once ")
        time.sleep(%s)

    @action
    async def wish(request):
        return {}
"""


def project(root: Path, seconds: str) -> Path:
    files = {"pages/index.fxl": page(NOTED % seconds), "fx.config.json": '{"openapi": true}'}
    return write_tree(root, files)


async def test_a_clock_that_jumps_waits_for_a_project_that_is_slow_to_import(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "THRESHOLD", 0.01)
    async with open_app(project(tmp_path, "0.5")) as client:
        assert "/api/__actions/index/wish" in (await client.get("/openapi.json")).text
        assert trio.current_time() < 1
        await trio.sleep(1000)  # it jumps again


async def test_a_project_is_imported_for_it_once_and_only_when_somebody_asks(
    tmp_path: Path,
) -> None:
    root = project(tmp_path, "0")
    async with open_app(root) as client:
        await client.get("/")
    assert not (root / "imported").exists()
    for _ in range(3):
        async with open_app(root) as client:
            assert (await client.get("/openapi.json")).status_code == 200
    assert (root / "imported").read_text() == "once "

    (root / "pages/index.fxl").write_text(page(NOTED % "0.0").replace("wish", "want"))
    async with open_app(root) as client:
        assert "/api/__actions/index/want" in (await client.get("/openapi.json")).text


async def test_an_import_without_an_end_is_abandoned_by_the_clock_of_the_machine(
    tmp_path: Path,
    autojump_clock: MockClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(describe, "LIMIT", 1)
    async with open_app(project(tmp_path, "3600")) as client:
        assert (await client.get("/openapi.json")).status_code == 503
    assert "importing the project took longer than 1 s" in caplog.text
