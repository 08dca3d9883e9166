"""No secret of a visitor is in what operators and agents see, wherever it was sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from fx.testing import open_app
from fxtrio.plugins.studio.sections import SECTIONS
from tests.trees import page, write_tree

CANARY = "canary-7d10"
PAGE = """
    from fx.db import db
    from fx.realtime import publish
    from fx.runtime import defer
    from fx.tasks import enqueue

    async def late(word):
        return await db.value("select $1", word)

    @server
    async def load(request):
        word = request.query_params["token"]
        await db.value(f"select '{word}' || $1", request.cookies["session"])
        return {"late": defer(late, word)}

    @action(tool=True)
    async def save(request):
        \"\"\"Save something.\"\"\"
        word = (await request.json())["password"]
        enqueue(late, word)
        await publish("news", {"word": word})
        raise ActionError("Not saved")

    @action
    async def fail(request):
        raise RuntimeError("defect")
    """
GUARDS = """
    async def everybody(request):
        return None
    """
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
PATHS = [
    "/_tree",
    "/metrics",
    "/mcp",
    *(f"/_studio/{one}" for one in SECTIONS if one != "database"),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("secrets")
    return write_tree(root, {"pages/index.fxl": page(PAGE), "guards_of_secrets.py": GUARDS})


@pytest.mark.parametrize("path", PATHS)
async def test_trees_have_no_secrets(root: Path, path: str) -> None:
    guard = "guards_of_secrets:everybody"
    plugins = [
        {"name": "observe", "settings": {"guard": guard}},
        {"name": "studio", "settings": {"guard": guard}},
        {"name": "mcp", "settings": {"site": "https://shop.example"}},
    ]
    headers = {"authorization": f"Bearer {CANARY}"}
    async with open_app(
        root,
        plugins=plugins,
        database={"url": "sqlite:///app.db"},
        observability={"metrics": "/metrics", "metrics_guard": guard},
    ) as client:
        client.cookies["session"] = CANARY
        await client.load_page(f"/?token={CANARY}", headers=headers)
        for name in ("save", "fail"):
            body = {"password": CANARY}
            await client.post(f"/api/__actions/index/{name}", json=body, headers=headers)
        await client.get(f"/{CANARY}?{CANARY}={CANARY}", headers=headers)
        agent_headers = {"host": "shop.example", "accept": "application/json, text/event-stream"}
        if path == "/mcp":
            answer = await client.post(path, json=LIST, headers=agent_headers)
        else:
            answer = await client.get(path)

    assert answer.status == 200, answer.text
    assert answer.text
    assert CANARY not in answer.text
    assert CANARY not in str(answer.headers)
