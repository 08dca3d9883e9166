"""Kept responses over real sockets, and what React makes of them in a browser."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.message import Message
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.support import Server, fx, served, visit
from tests.e2e.test_guestbook import HYDRATED
from tests.trees import write_tree

CLOCK = """
    import {{ Script }} from "fx/client";

    CACHE = {{"revalidate": {seconds}}}
    seen = []

    @server
    async def load(request):
        seen.append(1)
        return {{"n": len(seen)}}

    @action
    async def renew(request):
        return invalidate_routes({{}}, "/{path}")

    import {{ useAction }} from "fx/client";

    export default function Page({{ data }}) {{
      const renew = useAction("renew");
      return (
        <>
          <Script strategy="beforeInteractive" id="s">{{"window.ran = true"}}</Script>
          <h1>Version {{data.n}}</h1>
          <button onClick={{() => renew({{}})}}>Renew</button>
        </>
      );
    }}
    """

FILES = {
    "public/favicon.ico": "",
    "fx.config.json": '{"csp": "enforce"}',
    "pages/index.fxl": CLOCK.format(seconds=1000, path=""),
    "pages/brief.fxl": CLOCK.format(seconds=0.2, path="brief"),
    "pages/slow/index.fxl": CLOCK.format(seconds=1000, path="slow"),
    "pages/slow/loading.fxl": "export default function Loading() { return <p>Wait</p>; }\n",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = write_tree(tmp_path_factory.mktemp("kept"), FILES)
    fx("build", cwd=project)
    return project


@pytest.fixture
def server(built: Path) -> Iterator[Server]:
    with served(built) as server:
        yield server


def get(url: str, **headers: str) -> tuple[int, Message, str]:
    request = urllib.request.Request(
        url, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.status, response.headers, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read().decode()


def test_a_response_is_cached_and_its_headers_say_so(server: Server) -> None:
    _, first, body = get(server.url)
    status, second, again = get(server.url)
    unchanged = get(server.url, if_none_match=first["etag"])
    assert (first["x-fx-cache"], second["x-fx-cache"], status) == ("miss", "hit", 200)
    assert "Version <!-- -->1" in body and "Version <!-- -->1" in again
    assert second["content-security-policy"] != first["content-security-policy"]
    assert (unchanged[0], unchanged[2]) == (304, "")
    assert get(server.url)[1]["x-fx-cache"] == "hit"  # the connection is in order after a 304


def test_a_stale_response_is_revalidated_while_it_is_sent(server: Server) -> None:
    url = server.url + "/brief"
    get(url)
    give_up = time.monotonic() + 20
    seen = []
    while "Version <!-- -->2" not in get(url)[2]:
        seen.append(get(url)[1]["x-fx-cache"])
        assert time.monotonic() < give_up, seen
    assert "miss" not in seen


@pytest.mark.parametrize("path", ["/", "/slow"])
def test_a_cached_page_comes_to_life_under_an_enforced_policy(
    server: Server, browser: Browser, path: str
) -> None:
    assert get(server.url + path)[1]["x-fx-cache"] == "miss"
    visitor = visit(browser)
    with visitor.page.expect_response(server.url + path) as response:
        visitor.page.goto(server.url + path)
    visitor.page.wait_for_function(HYDRATED)
    assert response.value.headers["x-fx-cache"] == "hit"
    assert visitor.page.evaluate("window.ran") is True
    expect(visitor.page.get_by_role("heading")).to_have_text("Version 1")
    assert "Wait" not in get(server.url + path)[2]
    assert visitor.complaints == []


def test_an_action_makes_the_page_again(server: Server, browser: Browser) -> None:
    get(server.url)
    visitor = visit(browser)
    visitor.page.goto(server.url)
    visitor.page.wait_for_function(HYDRATED)
    with visitor.page.expect_response("**/renew"):
        visitor.page.get_by_role("button", name="Renew").click()
    visitor.page.reload()
    expect(visitor.page.get_by_role("heading")).to_have_text("Version 2")
    assert visitor.complaints == []
