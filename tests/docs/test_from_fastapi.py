"""The guide for those who come from FastAPI: their application goes on below the pages."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from fxtrio.compile.check.names.undefined_names import FASTAPI_NAMES
from fxtrio.testing import open_app
from tests.docs.pages import ROOT, blocks
from tests.trees import write_tree

GUIDE = ROOT / "docs/guides/from-fastapi.md"
PAGE = "export default function Page() {\n  return <p>x</p>;\n}\n"


@pytest.mark.parametrize("exempt", [(), ("/api/v1",)])
async def test_a_fastapi_application_runs_below_the_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exempt: tuple[str, ...]
) -> None:
    service = next(block.text for block in blocks(GUIDE) if block.file == "service.py")
    service += (
        "\n\n@service.post('/items/{number}')\n"
        "def add(number: int, body: dict[str, int]) -> dict[str, int]:\n"
        "    return {'sum': number + body['more']}\n"
    )
    write_tree(tmp_path, {"pages/index.fxl": PAGE, "service.py": service})
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "service", raising=False)
    async with open_app(tmp_path, csrf={"exempt_paths": exempt}) as client:
        client.app.mount("/api/v1", import_module("service").service)
        assert (await client.get("/")).status == 200
        assert (await client.get("/api/v1/health")).json() == {"ok": True}
        assert (await client.get("/api/v1/nothing")).status == 404
        headers = {"authorization": "Bearer x", "sec-fetch-site": "cross-site"}
        posted = await client.post("/api/v1/items/4", json={"more": 3}, headers=headers)
        if exempt:
            assert posted.json() == {"sum": 7}
            wrong = await client.post("/api/v1/items/x", json={"more": 3}, headers=headers)
            assert wrong.status == 422
        else:
            assert posted.status == 403
    sys.modules.pop("service")


def test_the_guide_has_a_row_for_each_name() -> None:
    assert set(FASTAPI_NAMES) <= set(re.findall(r"`([A-Za-z]+)`", GUIDE.read_text("utf-8")))
