"""Markdown in a whole app: URLs, negotiation, errors, ``/llms.txt``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from fx.testing import Client, open_app
from fxtrio.serve.pages.resources import Renderer
from fxtrio.ssr.frames import Rendered
from fxtrio.testing.open import NoRender
from tests.trees import PAGE, page, write_tree

HOOK = """
    @server
    async def load(request):
        return {"message": request.path_params["id"]}

    async def to_markdown(ctx):
        return f"# {(await ctx.run_loader())['message']} at {ctx.path}"
    """
FAILING = """
    from fx.runtime import LoaderError

    def to_markdown(ctx):
        if "gone" in ctx.request.query_params:
            raise LoaderError("Gone.", 410)
        return 7
    """
LLMS = """
    def wrap_markdown(ctx, markdown):
        return markdown + "\\n\\nFooter" if ctx.path != "/" else None

    def llms_txt(ctx):
        return ctx.render_default() + "The end\\n" if "end" in ctx.request.query_params else None
    """
BLOG = """
    def to_markdown(ctx):
        return None if ctx.path == "/blog/plain" else "# From the folder"
    """


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": PAGE,
            "pages/index.md": "# Welcome",
            "pages/llms.py": LLMS,
            "pages/blog/llms.py": BLOG,
            "pages/blog/index.fxl": PAGE,
            "pages/blog/plain.fxl": PAGE,
            "pages/blog/(one)/[id].fxl": page(HOOK),
            "pages/failing.fxl": page(FAILING),
            "pages/titled.fxl": f'HEAD = "<title>Our &amp; prices</title>"\n\n\n{PAGE}',
        },
    )
    llms = {"enabled": True, "auto_convert": False}
    async with open_app(tmp_path, llms=llms, name="Demo") as opened:
        yield opened


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/index.md", "# Welcome"),
        ("/blog.md", "# From the folder\n\nFooter"),
        ("/blog/5.md", "# 5 at /blog/5\n\nFooter"),
    ],
)
async def test_each_page_has_its_markdown(client: Client, path: str, text: str) -> None:
    response = await client.get(path)
    assert (response.status, response.text) == (200, text)
    assert response.headers["content-type"] == "text/markdown; charset=utf-8"


async def test_without_markdown_the_client_is_redirected_to_the_page_with_its_query(
    client: Client,
) -> None:
    response = await client.get("/blog/plain.md?a=1&b=2")
    assert response.status == 307
    assert response.headers["location"] == "/blog/plain?a=1&b=2"


async def test_the_accept_header_of_a_page_asks_for_markdown(client: Client) -> None:
    markdown = await client.get("/blog/5", headers={"accept": "text/markdown, text/html;q=0.9"})
    assert markdown.text == "# 5 at /blog/5\n\nFooter"
    html = await client.get("/blog/5", headers={"accept": "text/html"})
    assert html.headers["content-type"] == "text/html; charset=utf-8"
    assert html.headers["link"] == '</llms.txt>; rel="llms-txt"'
    for response in (markdown, html):
        assert "accept" in response.headers["vary"].lower()


async def test_a_page_that_nothing_describes_answers_the_accept_header_with_html(
    client: Client,
) -> None:
    response = await client.get("/blog/plain", headers={"accept": "text/markdown"})
    assert response.status == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"


async def test_a_hook_that_fails_is_never_a_silent_redirect(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    assert (await client.get("/failing.md?gone")).status == 410
    response = await client.get("/failing.md")
    assert response.status == 500
    assert "pages/failing.fxl: to_markdown(): returned 7 (int)" in caplog.text


async def test_llms_txt_lists_the_pages(client: Client) -> None:
    text = (await client.get("/llms.txt")).text
    assert text == (
        "# Demo\n\n## Pages\n\n"
        "- [Welcome](http://testserver/index.md)\n"
        "- [Blog](http://testserver/blog.md)\n"
        "- [Plain](http://testserver/blog/plain.md)\n"
        "- [Failing](http://testserver/failing.md)\n"
        "- [Our & prices](http://testserver/titled)\n"
    )
    assert (await client.get("/llms.txt?end")).text == text + "The end\n"


async def test_without_llms_there_is_none_of_it(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": PAGE, "pages/index.md": "# Welcome"})
    async with open_app(tmp_path) as client:
        assert (await client.get("/index.md")).status == 404
        assert (await client.get("/llms.txt")).status == 404
        response = await client.get("/", headers={"accept": "text/markdown"})
        assert response.headers["content-type"] == "text/html; charset=utf-8"
        assert "link" not in response.headers


WITH_STATUS = """
    @server
    async def load(request):
        return {"message": "v0.9.4"}, 410
    """
OWN_MARKDOWN = """
    async def to_markdown(ctx):
        return (await ctx.run_loader())["message"]
    """


class FixedHtml(NoRender):
    async def render(self, page: int, payload: bytes) -> Rendered:
        assert b'"statusCode":410' in payload
        return Rendered(b"", b"<nav>Menu</nav><main><h1>Gone with v0.9.4</h1></main>")


async def test_markdown_keeps_the_status_of_its_page(tmp_path: Path) -> None:
    @asynccontextmanager
    async def open_renderer() -> AsyncIterator[Renderer]:
        yield FixedHtml()

    pages = {
        "pages/converted.fxl": page(WITH_STATUS),
        "pages/told.fxl": page(WITH_STATUS + OWN_MARKDOWN),
    }
    write_tree(tmp_path, pages)
    llms = {"enabled": True, "auto_convert": True}
    async with open_app(tmp_path, llms=llms, open_renderer=open_renderer) as client:
        converted, written = await client.get("/converted.md"), await client.get("/told.md")
        negotiated = await client.get("/converted", headers={"accept": "text/markdown"})
    assert (converted.status, converted.text) == (410, "# Gone with v0.9.4\n")
    assert (negotiated.status, negotiated.text) == (410, "# Gone with v0.9.4\n")
    assert (written.status, written.text) == (410, "v0.9.4")


SLOW = """
    import trio

    @server(timeout=2)
    async def load(request):
        await trio.sleep(float(request.query_params["loader"]))
        return {}

    async def to_markdown(ctx):
        await ctx.run_loader()
        await trio.sleep(float(ctx.request.query_params["hook"]))
        return "# Done"
    """


@pytest.mark.parametrize(
    ("loader", "hook", "status", "seconds"),
    [(1, 9, 200, 10), (60, 0, 504, 2), (1, 60, 504, 30)],
)
async def test_a_loader_s_deadline_limits_the_loader_and_not_its_hook(
    tmp_path: Path, autojump_clock: MockClock, loader: int, hook: int, status: int, seconds: int
) -> None:
    write_tree(tmp_path, {"pages/slow.fxl": page(SLOW)})
    async with open_app(tmp_path, llms={"enabled": True}) as client:
        begin = trio.current_time()
        response = await client.get(f"/slow.md?loader={loader}&hook={hook}")
    assert (response.status, trio.current_time() - begin) == (status, seconds)


async def test_the_base_of_an_optional_parameter_is_listed(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/docs/[[...slug]].fxl": PAGE})
    async with open_app(tmp_path, llms={"enabled": True}, name="Demo") as client:
        response = await client.get("/llms.txt")
        assert (await client.get("/docs.md")).status != 404
    assert response.text == "# Demo\n\n## Pages\n\n- [Docs](http://testserver/docs.md)\n"
