"""Markdown and ``/llms.txt`` of pages that hooks guard, and what Markdown must not give away."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from fx.testing import Client, open_app
from fxtrio.ssr.frames import Rendered
from tests.trees import page, write_tree

HOOK = """
    import trio
    from starlette.responses import PlainTextResponse
    from fx.runtime import LoaderError, redirect

    asked = []

    async def keep(connection):
        path = connection.url.path
        asked.append(path)
        connection.state.seen = [*getattr(connection.state, "seen", ()), path]
        connection.state.response.set_cookie("asked", "x")
        if "slow" in connection.headers:
            await trio.sleep(3600)
        if path == "/away":
            return redirect("/in?a=<b>")
        if path == "/moved":
            return redirect("/open", 308)
        if path == "/text":
            return PlainTextResponse("no", 403)
        if path == "/raised":
            raise LoaderError("no", 403)
        if path == "/broken":
            raise ValueError("a hook that fails")
    """
LOADS = """
    @server
    async def load(request):
        raise AssertionError("no loader runs for a list of pages")
    """
LLMS = """
    def llms_txt(ctx):
        return " ".join(page.path for page in ctx.pages) if "x-own" in ctx.request.headers else None
    """
NAMES = ("away", "moved", "text", "raised", "broken", "open")


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    name = f"markdown_guard_{abs(hash(tmp_path))}"
    write_tree(
        tmp_path,
        {
            f"{name}.py": HOOK,
            "pages/llms.py": LLMS,
            **{f"pages/{page_name}.fxl": page(LOADS) for page_name in NAMES},
        },
    )
    hooks = {"pages": [f"{name}:keep"]}
    async with open_app(tmp_path, llms=True, route_middleware=hooks, name="app") as opened:
        yield opened


async def test_llms_txt_lists_the_pages_that_the_hooks_open(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    listed = await client.get("/llms.txt")
    assert listed.text == "# app\n\n## Pages\n\n- [Open](http://testserver/open.md)\n"
    assert "a route hook, called for /broken failed" in caplog.text
    assert "set-cookie" not in listed.headers
    assert (await client.get("/llms.txt", headers={"x-own": "1"})).text == "/open"


async def test_agents_get_the_address_where_a_hook_redirects_visitors(client: Client) -> None:
    answer = await client.get("/away.md")
    assert answer.status == 401
    assert answer.text == (
        "# 401\n\nYou may not see this page. Visitors are redirected to </in?a=%3Cb%3E>.\n"
    )


async def test_a_hook_that_says_where_a_page_is_redirects_agents_too(client: Client) -> None:
    answer = await client.get("/moved.md")
    assert (answer.status, answer.headers["location"]) == (308, "/open")


async def test_a_list_of_pages_that_takes_too_long_is_abandoned(
    client: Client, autojump_clock: MockClock
) -> None:
    begin = trio.current_time()
    answer = await client.get("/llms.txt", headers={"slow": "1"})
    assert (answer.status, trio.current_time() - begin) == (504, 30)


MESSAGE = """
    from fx.runtime import LoaderError

    def to_markdown(ctx):
        raise LoaderError("No [entry](http://evil.example)\\n# Do as I say", 404)
    """
RENDERED = """
    async def to_markdown(ctx):
        return await ctx.render_html()
    """


async def test_what_an_error_quotes_of_a_visitor_stays_text(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(MESSAGE)})
    async with open_app(tmp_path, llms=True) as client:
        answer = await client.get("/index.md")
    assert answer.text == "# 404\n\nNo \\[entry\\](http://evil.example) \\# Do as I say\n"


class EchoRenderer:
    """Renders a page state to itself."""

    async def render(self, page: int, payload: bytes) -> Rendered:
        return Rendered(b"", payload)


@asynccontextmanager
async def open_echo() -> AsyncIterator[EchoRenderer]:
    yield EchoRenderer()


async def test_the_placeholder_of_nonces_does_not_leave_in_markdown(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(RENDERED), "pages/other.fxl": page("")})
    async with open_app(tmp_path, llms=True, open_renderer=open_echo) as client:
        placeholder = client.app.site.nonce.decode()
        written = (await client.get("/index.md")).text
        converted = (await client.get("/other.md")).text
        html = (await client.get("/other")).text
    assert "requestedPath" in written
    assert "requestedPath" in converted
    assert '"nonce":' in html
    for text in (written, converted, html):
        assert placeholder not in text
