"""An app below a path of the server or of another app: ``root_path``, beside ``baseUrl``."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import attrs
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import Scope

from fxtrio.asgi_entry import below_root
from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.serve.csp_report import RATE
from fxtrio.testing import Client, open_app

PAGES = {
    "pages/index.fxl": """
from fx.runtime import redirect

HEAD = "<title>Shop</title>"

@server
async def load(request):
    return {"url": str(request.url), "path": request.url.path}

@action
async def leave(request):
    raise redirect("/basket")

@action
async def forget(request):
    return invalidate_routes({}, "/kept")

export default function Page({ data }) { return <p>{data.path}</p>; }
""",
    "pages/away.fxl": """
from fx.runtime import redirect

@server
async def load(request):
    raise redirect("/basket?a=1#b")

export default function Page() { return <p>Away</p>; }
""",
    "pages/basket.fxl": """
async def websocket(ws):
    await ws.accept()
    await ws.send_json({"path": ws.url.path})
    await ws.receive()

export default function Page() { return <p>Basket</p>; }
""",
    "pages/kept.fxl": """
CACHE = {"revalidate": 3600}
made = [0]

@server(public=True)
async def load(request):
    made[0] += 1
    return {"made": made[0]}

export default function Page({ data }) { return <p>{data.made}</p>; }
""",
    "pages/members.fxl": "export default function Page() { return <p>Members</p>; }\n",
    "pages/api/where.py": """
from starlette.responses import RedirectResponse

async def get(request):
    if "away" in request.query_params:
        return RedirectResponse(request.query_params["away"])
    return {"path": request.url.path, "base": str(request.base_url)}
""",
    "mounted_hooks.py": """
from fxtrio.runtime import redirect
from fxtrio.routes import route_of

seen = []

async def guard(request):
    seen.append(request.url.path)
    route = route_of(request)
    if route.pattern == "/members":
        return redirect("/basket")
    return None
""",
    "public/robots.txt": "hello\n",
}


@attrs.define(eq=False)
class Mounted(Client):
    """Asks with the ``root_path`` of a server, and a path that a proxy has stripped."""

    root_path: str = "/pre"
    carries: bool = True

    def scope(self, kind: str, url: str, headers: Any) -> Scope:
        requested = self.root_path + url if self.carries else url
        return {**super().scope(kind, requested, headers), "root_path": self.root_path}


BASES = [("", True), ("", False), ("/base", True), ("/base", False)]


@asynccontextmanager
async def opened(root: Path, base: str, carries: bool) -> AsyncIterator[Mounted]:
    for name, text in PAGES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    settings: dict[str, Any] = {
        "base_url": base,
        "llms": {"enabled": True},
        "openapi": True,
        "route_middleware": {"pages": ["mounted_hooks:guard"]},
        "csp": "enforce",
    }
    async with open_app(root, mode="production", **settings) as client:
        yield Mounted(client.app, carries=carries)


def state_of(html: str) -> Any:
    return json.loads(html.partition('id="__fx_data">')[2].partition("</script>")[0])


@pytest.mark.parametrize(("base", "carries"), BASES)
async def test_all_of_an_app_is_below_the_path_it_is_mounted_at(
    tmp_path: Path, base: str, carries: bool
) -> None:
    whole = "/pre" + base
    async with opened(tmp_path, base, carries) as client:
        page = await client.get(f"{base}/")
        assert page.status_code == 200
        assert re.findall(r'(?:src|href)="(/[^"]*)"', page.text) == []  # no build: no files
        state = state_of(page.text)
        assert state["page"]["base"] == whole
        assert state["props"]["data"]["path"] == f"{whole}/"
        assert state["props"]["data"]["url"] == f"http://{client.host}{whole}/"
        assert state["requestedPath"] == f"{whole}/"
        assert page.headers["link"].startswith(f"<{whole}/llms.txt>")
        assert f"report-uri {whole}/api/__csp-report" in page.headers["content-security-policy"]

        async def leads_to(url: str) -> str:
            response = await client.get(base + url)
            assert response.status_code in (302, 303, 307, 308), response.text
            return str(response.headers["location"])

        assert await leads_to("/members") == f"{whole}/basket"
        assert await leads_to("/away") == f"{whole}/basket?a=1#b"
        assert await leads_to("/basket/") == f"{whole}/basket"
        assert await leads_to("/api/where?away=/x") == f"{whole}/x"
        assert await leads_to(f"/api/where?away={whole}/x") == f"{whole}/x"
        assert await leads_to("/api/where?away=/pre/x") == "/pre/x"
        assert await leads_to("/api/where?away=//a.b/x") == "//a.b/x"
        assert await leads_to("/api/where?away=https://a.b/x") == "https://a.b/x"
        api = (await client.get(f"{base}/api/where")).json()
        assert api["path"] == f"{whole}/api/where"
        assert (await client.get(f"{base}/robots.txt")).text == "hello\n"
        for at in {"", base}:
            assert (await client.get(f"{at}/healthz")).status_code == 200
            assert "checks" in (await client.get(f"{at}/readyz")).json()
        openapi = (await client.get(f"{base}/openapi.json")).json()
        assert openapi["servers"] == [{"url": whole}]
        llms = (await client.get(f"{base}/llms.txt")).text
        assert f"(http://{client.host}{whole}/basket" in llms
        assert (await client.get(f"{base}/basket.md")).status_code in (200, 307)
        assert (await client.get("/nowhere")).status_code == 404


@pytest.mark.parametrize(
    ("to", "location"),
    [
        ("/basket?a=1", "/base/basket?a=1"),
        ("/", "/base"),
        ("/?a=1", "/base?a=1"),
        ("/basement", "/base/basement"),
        ("/base/basket", "/base/basket"),
        ("/base", "/base"),
        ("https://a.b/x", "https://a.b/x"),
    ],
)
async def test_redirects_lead_below_the_base(tmp_path: Path, to: str, location: str) -> None:
    async with opened(tmp_path, "/base", carries=True) as mounted:
        client = Client(mounted.app)
        answer = await client.get(f"/base/api/where?away={quote(to)}")

    assert answer.headers["location"] == location


@pytest.mark.parametrize("root_path", ["", "/pre"])
@pytest.mark.parametrize("path", ["/admin/go", "/plain"])
async def test_redirects_of_what_lies_beside_the_base_stay_beside_it(
    tmp_path: Path, root_path: str, path: str
) -> None:
    async def go(request: Request) -> Response:
        return RedirectResponse("/admin/login")

    async with opened(tmp_path, "/base", carries=True) as client:
        client.app.mount("/admin", Starlette(routes=[Route("/go", go)]))
        client.app.router.add_route("/plain", go)
        client.root_path = root_path
        answer = await client.get(path)

    assert answer.headers["location"] == f"{root_path}/admin/login"


async def test_what_a_server_calls_a_prefix_is_taken_as_one() -> None:
    def path(root: str, path: str, raw: bytes | None = None) -> tuple[str, str, bytes | None]:
        scope = below_root({"root_path": root, "path": path, "raw_path": raw})
        return scope["root_path"], scope["path"], scope["raw_path"]

    assert path("/pre", "/a") == ("/pre", "/pre/a", None)
    assert path("/pre/", "/a b", b"/a%20b") == ("/pre", "/pre/a b", b"/pre/a%20b")
    assert path("pre", "/", b"/") == ("/pre", "/pre/", b"/pre/")
    assert path("/pre", "/pre", b"/pre") == ("/pre", "/pre", b"/pre")
    assert path("/pre", "/pre/a", b"/%70re/a") == ("/pre", "/pre/a", b"/%70re/a")
    assert path("/pre", "/prefer", b"/prefer") == ("/pre", "/pre/prefer", b"/pre/prefer")
    assert path("/p q", "/a", b"/a") == ("/p q", "/p q/a", b"/p%20q/a")
    assert path("/", "/a", b"/a") == ("", "/a", b"/a")
    assert path("/pre", "*", b"*") == ("", "*", b"*")


async def test_an_app_in_a_mount_of_starlette_has_its_pages_sockets_and_hooks_there(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, "", carries=True) as inner:
        outer = Starlette(routes=[Mount("/sub", inner.app), Mount("/t/{tenant}", inner.app)])
        client = Client(outer)  # type: ignore[arg-type]
        for mount in ("/sub", "/t/one", "/t/two"):
            page = await client.get(f"{mount}/")
            assert f'"base":"{mount}"' in page.text
            assert f'"path":"{mount}/"' in page.text
            assert (await client.get(f"{mount}/members")).headers["location"] == f"{mount}/basket"
            async with client.websocket(f"{mount}/basket") as ws:
                assert await ws.receive_json() == {"path": f"{mount}/basket"}
        assert "/t/two/members" in sys.modules["mounted_hooks"].seen


TENANTS = ["a b", "ä", "%s", "100%", "a%20b", 'a"b', "<b>", "a;sandbox", "a,b", "a\\b", "a\nb"]


async def test_every_name_of_a_mount_is_one_path_for_all_of_an_app(tmp_path: Path) -> None:
    async with opened(tmp_path, "", carries=True) as inner:
        client = Client(Starlette(routes=[Mount("/t/{tenant}", inner.app)]))  # type: ignore[arg-type]
        for tenant in TENANTS:
            mount, requested = f"/t/{quote(tenant, safe=SAFE_IN_PATHS)}", f"/t/{quote(tenant)}"
            page = await client.get(f"{requested}/")
            assert page.status_code == 200, tenant
            assert state_of(page.text)["page"]["base"] == mount
            report = page.headers["content-security-policy"].rpartition("; ")[2]
            reported = mount.replace(";", "%3B").replace(",", "%2C")
            assert report == f"report-uri {reported}/api/__csp-report"
            for url in ("/members", "/away", "/basket/"):
                location = (await client.get(requested + url)).headers["location"]
                assert location.partition("?")[0] == f"{mount}/basket"
            assert (await client.get(f"{requested}/robots.txt")).text == "hello\n"
            listed = (await client.get(f"{requested}/llms.txt")).text
            assert f"(http://{client.host}/t/{quote(tenant)}/basket.md)" in listed
            assert len(listed.splitlines()) == len(listed.split("\n")) - 1 == 8, listed
            openapi = (await client.get(f"{requested}/openapi.json")).json()
            assert openapi["servers"] == [{"url": mount}]
            async with client.websocket(f"{requested}/basket") as ws:
                assert "path" in await ws.receive_json()


async def test_cached_pages_are_evicted_below_each_path(tmp_path: Path) -> None:
    async with opened(tmp_path, "", carries=True) as client:
        plain = Client(client.app)

        async def render_number(client: Client) -> str:
            found = re.search(r'"made":(\d+)', (await client.get("/kept")).text)
            assert found is not None
            return found[1]

        assert await render_number(client) == await render_number(client)
        assert await render_number(plain) != await render_number(client)
        before = await render_number(client)
        headers = {"content-type": "application/json", "origin": f"http://{client.host}"}
        response = await client.request(
            "POST", "/api/__actions/index/forget", headers=headers, content=b"{}"
        )
        assert response.json() == {"ok": True}, response.text
        assert await render_number(client) != before


async def test_more_paths_than_are_cached_are_served(tmp_path: Path) -> None:
    async with opened(tmp_path, "", carries=True) as inner:
        for number in range(100):
            client = Mounted(inner.app, root_path=f"/t/{number}")
            assert f'"base":"/t/{number}"' in (await client.get("/")).text


async def test_who_may_report_is_counted_for_all_paths_together(tmp_path: Path) -> None:
    report = b'{"csp-report": {"document-uri": "http://a/b", "blocked-uri": "inline"}}'
    async with opened(tmp_path, "", carries=True) as inner:
        found = []
        for number in range(RATE + 1):
            client = Mounted(inner.app, root_path=f"/t/{number}")
            headers = {"content-type": "application/csp-report"}
            url = "/api/__csp-report"
            found.append(
                (await client.request("POST", url, headers=headers, content=report)).status
            )
    assert found == [204] * RATE + [429]
