"""`fx check` names endpoints that anybody may call in an app that guards its pages."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fxtrio.cli.check import check
from tests.trees import PAGE, write_tree

HOOK = "guards.signed_in"


async def heads(root: Path, files: list[str], **hooks: Any) -> list[str]:
    config = json.dumps({"routeMiddleware": hooks})
    endpoints = {f"pages/api/{name}.py": "async def get(request): ...\n" for name in files}
    write_tree(root, {"fx.config.json": config, "pages/index.fxl": PAGE, **endpoints})
    checked = await check(root, app="", imports=False, report=lambda _: None)
    return [problem.head for problem in checked.problems]


async def test_endpoints_beside_guarded_pages_are_guarded_or_said_to_be_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = partial(heads, tmp_path)
    remedy = "Name hooks in 'routeMiddleware.apis' as well, or set 'routeMiddleware.openApis' to"
    assert await found(["feed"], pages=[HOOK], websockets=[HOOK], actions=[HOOK]) == [
        "fx.config.json:1:22: routeMiddleware.pages guards pages, and pages/api/feed.py can be "
        f"called by anybody. {remedy} true."
    ]
    [both] = await found(["feed", "other"], pages=[HOOK])
    assert "2 endpoints (pages/api/feed.py, …)" in both
    assert await found([], pages=[HOOK], apis=[HOOK]) == []
    assert await found([], pages=[HOOK], openApis=True) == []
    assert await found([], actions=[HOOK]) == []


async def test_an_app_without_endpoints_has_nothing_to_say(tmp_path: Path) -> None:
    assert await heads(tmp_path, [], pages=[HOOK]) == []
