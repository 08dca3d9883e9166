"""What operators and agents are offered is behind its guard, however it is requested."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fx.testing import Client, open_app
from fxtrio.plugins.studio.sections import SECTIONS
from tests.trees import page, write_tree

GUARDS = """
    from fx.runtime import LoaderError, redirect
    from starlette.responses import PlainTextResponse

    async def answers(request):
        return PlainTextResponse("Not you.", 403)

    async def redirects(request):
        return redirect("/login")

    async def raises(request):
        raise LoaderError("Not you.", 403)

    async def breaks(request):
        raise RuntimeError("defect")
    """
CODE = """
    RAN = []

    @action(tool=True)
    async def order(request):
        \"\"\"Order something that is secret-7d.\"\"\"
        RAN.append(1)
        return {"secret-7d": 1}
    """
MESSAGES: list[dict[str, Any]] = [
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "order", "arguments": {}},
    },
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
]
PATHS = [
    "/_tree",
    "/metrics",
    "/_studio",
    *(f"/_studio/{name}" for name in (*SECTIONS, "page.js", "events", "nothing")),
    "/_studio/routes?url=/",
    "/mcp",
]
FORMS: list[dict[str, str]] = [
    {},
    {"accept": "application/json"},
    {"accept": "text/markdown"},
    {"x-fx-navigation": "1"},
    {"origin": "http://localhost", "sec-fetch-site": "same-origin"},
]
SIGNS = ("secret-7d", "- Studio<", "fx_trio_tasks", "process ", '"root"', '"result"', "EventSource")
"""Texts of what is guarded."""


async def not_rejected(client: Client, base_url: str) -> list[Any]:
    """Return each request whose response is not a rejection, and the response."""
    found: list[Any] = []
    for path in PATHS:
        for variant in (path, path + "/", path.replace("_", "%5F"), path + ".md"):
            for form in FORMS:
                for method in ("GET", "HEAD", "POST"):
                    headers = {"host": "localhost", **form}
                    answer = await client.request(method, base_url + variant, headers=headers)
                    if answer.status < 300 or any(sign in answer.text for sign in SIGNS):
                        found.append((method, variant, form, answer.status))
    for message in MESSAGES:
        for path in ("/mcp", "/mcp/", "/%6dcp"):
            headers = {"host": "localhost", "accept": "application/json, text/event-stream"}
            answer = await client.post(base_url + path, json=message, headers=headers)
            if answer.status < 300 or any(sign in answer.text for sign in SIGNS):
                found.append((message["method"], path, answer.status))
    return found


@pytest.mark.parametrize("base_url", ["", "/app"])
@pytest.mark.parametrize("guard", ["answers", "redirects", "raises", "breaks"])
async def test_nothing_passes_a_guard(tmp_path: Path, guard: str, base_url: str) -> None:
    module = f"operators_{guard}_{len(base_url)}"
    write_tree(tmp_path, {"pages/index.fxl": page(CODE), f"{module}.py": GUARDS})
    named = f"{module}:{guard}"
    plugins = [
        {"name": name, "settings": {"guard": named}} for name in ("observe", "studio", "mcp")
    ]
    metrics = {"metrics": "/metrics", "metrics_guard": named}
    async with open_app(
        tmp_path, plugins=plugins, observability=metrics, base_url=base_url, llms=True
    ) as client:
        assert await not_rejected(client, base_url) == []
