"""Who may see a URL, as Studio says it of apps of every form: what it says is what happens."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from fx.testing import Client, open_app
from fxtrio.plugins.studio.timings import Timings
from fxtrio.spans import Spans
from tests.serve.test_guard_matrix import mounted
from tests.trees import page, write_tree

HOOKS = """
    from starlette.responses import PlainTextResponse

    async def operators(request):
        if request.headers.get("authorization") != "Bearer right":
            return PlainTextResponse("Not you.", 403)

    async def members(request):
        if request.path_params.get("slug") != "offen/für alle":
            return PlainTextResponse("Not you.", 403)

    async def talkers(ws):
        return PlainTextResponse("Not you.", 403)
    """
ENDPOINT = """
    from starlette.responses import PlainTextResponse

    async def get(request):
        return PlainTextResponse("data")

    async def websocket(ws):
        await ws.accept()
    """
RIGHT = {"authorization": "Bearer right"}
MAY, MAY_NOT = "Everybody may see it.", "may not see it."


def project(root: Path) -> dict[str, Any]:
    hooks = f"access_{root.name}"
    files = {
        "pages/[...slug].fxl": page("@server\nasync def load(request):\n    return {}\n"),
        "pages/api/live.py": ENDPOINT,
        "public/robots.txt": "none",
        f"{hooks}.py": HOOKS,
    }
    write_tree(root, files)
    return {
        "plugins": [{"name": "studio", "settings": {"guard": f"{hooks}:operators"}}],
        "route_middleware": {"pages": [f"{hooks}:members"], "websockets": [f"{hooks}:talkers"]},
    }


async def page_text(client: Client, path: str, url: str) -> str:
    answer = await client.get(f"{path}/_studio/routes?{urlencode({'url': url})}", headers=RIGHT)
    assert answer.status == 200
    return html.unescape(re.sub(r"<[^>]*>", " ", answer.text))


@pytest.mark.parametrize("base_url", ["", "/shop"])
async def test_what_it_says_of_a_url_is_what_a_visitor_gets(tmp_path: Path, base_url: str) -> None:
    async with open_app(tmp_path, base_url=base_url, **project(tmp_path)) as client:
        inner = mounted(client, "/at/{name}", "/at/here")
        for reached, prefix in ((client, ""), (inner, "/at/here")):
            root = prefix + base_url
            for url, expected in [
                ("/secret", MAY_NOT),
                ("/shopping", MAY_NOT),
                ("/offen/f%C3%BCr%20alle", MAY),
                ("/offen/für alle", MAY),
                ("/offen/f%C3%BCr%20alle?x=1#top", MAY),
                ("/api/live", MAY),
                ("/robots.txt", "a file of the public folder"),
                ("/_studio/tree", "the Starlette route /_studio/{name}"),
            ]:
                for address in (root + url, f"https://shop.example{root}{url}"):
                    assert expected in await page_text(reached, base_url, address), (
                        prefix,
                        address,
                    )
            for url, expected in [("//[id]", MAY_NOT), ("http://[x", "/http://[x: no page")]:
                assert expected in await page_text(reached, base_url, url), url
            assert (await reached.get(f"{base_url}/secret")).status == 403
            assert (await reached.get(f"{base_url}/robots.txt")).status == 200
            assert (await reached.get(f"{base_url}/_studio/tree")).status == 403


async def test_hooks_of_sockets_are_listed(tmp_path: Path) -> None:
    async with open_app(tmp_path, **project(tmp_path)) as client:
        text = (await client.get("/_studio/routes", headers=RIGHT)).text

    hooks = f"access_{tmp_path.name}"
    row = next(row for row in text.split("<tr>") if "pages/api/live.py" in row)
    assert f"{hooks}:talkers" in row
    assert f"{hooks}:members" not in row


def test_only_studio_itself_is_left_out_of_the_requests() -> None:
    spans, timings = Spans(), Timings(hidden="/_studio")
    spans.add(timings)
    for name in ("GET /_studio", "GET /_studio/{name}", "GET /_studios", "POST /_studio-a save"):
        with spans.open_root("request", name):
            pass

    assert [one.root.name for one in timings.latest()] == ["POST /_studio-a save", "GET /_studios"]
