"""What a visitor has stored is never taken for a page, however the router is led there."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page

from tests.bundle.test_browser import wait_until
from tests.e2e.support import Server, fx, served, visit
from tests.e2e.test_guestbook import HYDRATED
from tests.trees import write_tree

RUN = "localStorage.setItem('ran', '1')"
HOME = "/shop/"

SITE = {
    "pages/index.fxl": """
        @server
        async def load(request):
            return {"to": request.query_params.get("to", "/")}

        @action
        async def leave(request):
            return {"redirect": (await request.json())["to"]}

        import { Link, navigate, useAction } from "fx/client";

        export default function Home({ data }) {
          const leave = useAction("leave");
          return (
            <main>
              <h1>Home</h1>
              <Link id="link" href={data.to}>link</Link>
              <Link id="hop" href={`/go?next=${encodeURIComponent(data.to)}`}>hop</Link>
              <Link id="proper" href="/other">other</Link>
              <button id="navigate" onClick={() => navigate(data.to)}>navigate</button>
              <button id="action" onClick={() => leave({ to: data.to })}>action</button>
            </main>
          );
        }
    """,
    "pages/go.fxl": """
        from fx.runtime import redirect

        @server
        async def load(request):
            return redirect(request.query_params["next"])

        export default () => <p>never</p>;
    """,
    "pages/other.fxl": """
        HEAD = "<script>document.inHead = (document.inHead ?? 0) + 1</script><title>Other</title>"

        export default ({ data }) => <h1>Other {data.name ?? "page"}</h1>;
    """,
    "pages/api/store.py": """
        from starlette.responses import Response

        stored = {}

        async def put(request):
            stored[request.query_params["n"]] = await request.body()
            return {}

        async def get(request):
            query = request.query_params
            return Response(
                stored[query["n"]],
                media_type=query.get("type", "application/json"),
                headers={"x-fx-build": query.get("build", "")} if "build" in query else {},
            )
    """,
    "public/evil.js": RUN,
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("confused")
    write_tree(root, SITE)
    (root / "public" / "stored.json").write_text("{}")
    (root / "fx.config.json").write_text(json.dumps({"baseUrl": "/shop"}))
    fx("build", cwd=root)
    return root


@pytest.fixture(
    scope="module", params=["report-only", pytest.param("enforce", marks=pytest.mark.nightly)]
)
def site(request: pytest.FixtureRequest, project: Path) -> Iterator[Server]:
    with served(project, env={"FX_CSP": request.param}) as server:
        yield server


def ask(url: str, *, data: bytes | None = None, navigation: str = "") -> tuple[str, bytes]:
    method = "GET" if data is None else "PUT"
    origin = "/".join(url.split("/", 3)[:3])
    headers = {"content-type": "application/json", "origin": origin}
    headers |= {"x-fx-navigation": navigation}
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as response:
        return response.headers["content-type"], response.read()


@pytest.fixture(scope="module")
def payload(site: Server) -> dict[str, Any]:
    """The payload of a real page, which anybody may read."""
    media, body = ask(f"{site.url}{HOME}other", navigation="1")
    return {**json.loads(body), "media": media}


def forged(payload: dict[str, Any], how: str) -> bytes:
    page = payload["page"]
    changes: dict[str, dict[str, Any]] = {
        "module": {"page": {**page, "module": f"data:text/javascript,{RUN}"}},
        "head": {"head": [[["script", {"src": "/shop/evil.js"}, ""], ["script", {}, RUN]]]},
        "props": {"props": {"data": {"name": "<forged>"}, "layoutData": {}}},
        "redirect": {"redirect": f"javascript:{RUN}"},
    }
    return json.dumps({**payload, **changes[how]}).encode()


WAYS = {
    "link": "#link",
    "redirect": "#hop",
    "navigate": "#navigate",
    "action": "#action",
}


@contextmanager
def visiting(browser: Browser) -> Iterator[Page]:
    page = visit(browser).page
    yield page
    page.context.close()


def lead(page: Page, site: Server, way: str, target: str) -> None:
    page.goto(f"{site.url}{HOME}?to={quote(target, safe='')}")
    page.wait_for_function(HYDRATED)
    page.click(WAYS[way])


@pytest.mark.parametrize(
    ("way", "how"),
    [
        *(("link", how) for how in ("module", "head", "props", "redirect")),
        ("redirect", "module"),
        ("navigate", "head"),
        ("action", "module"),
    ],
)
def test_stored_json_is_loaded_as_a_document_and_runs_nothing(
    browser: Browser, site: Server, payload: dict[str, Any], way: str, how: str
) -> None:
    ask(f"{site.url}{HOME}api/store?n={how}", data=forged(payload, how))
    for more in ("", f"&type={quote(str(payload['media']))}&build={_build(payload)}"):
        with visiting(browser) as page:
            lead(page, site, way, f"/shop/api/store?n={how}{more}")
            page.wait_for_url(re.compile("/api/store"))
            wait_until(page, "document.querySelector('h1') === null")
            assert page.evaluate("localStorage.getItem('ran')") is None
            assert '"routePath"' in page.inner_text("body")


@pytest.mark.parametrize("how", ["module", "head"])
def test_a_stored_file_is_loaded_as_a_document_and_runs_nothing(
    browser: Browser, site: Server, project: Path, payload: dict[str, Any], how: str
) -> None:
    (project / "public" / "stored.json").write_bytes(forged(payload, how))
    with visiting(browser) as page:
        lead(page, site, "link", "/shop/stored.json")
        page.wait_for_url("**/stored.json")
        wait_until(page, "document.querySelector('h1') === null")
        assert page.evaluate("localStorage.getItem('ran')") is None


def test_pages_are_navigated_to_without_a_document(browser: Browser, site: Server) -> None:
    with visiting(browser) as page:
        lead(page, site, "link", "/shop/other")
        page.wait_for_selector("text=Other page")
        assert page.title() == "Other"
        assert page.evaluate("performance.getEntriesByType('navigation')[0].name").endswith(
            "?to=%2Fshop%2Fother"
        )


def _build(payload: dict[str, Any]) -> str:
    page = payload["page"]
    return str(page["build"])
