"""The context that Markdown hooks get."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from fx.testing import TestResponse
from fxtrio.markdown import LlmsPageInfo
from tests.contract.llms import HTML, Renders, open_llms
from tests.contract.rules import rule

Responses = dict[str, TestResponse]


@rule("markdown.context.passed")
async def test_markdown_context_passed_to_to_markdown_and_wrap_markdown_is_the_same(
    tmp_path: Path,
) -> None:
    files = {
        "index": "def to_markdown(ctx):\n    ctx.request.state.seen = ctx\n    return 'x'",
        "pages/llms.py": (
            "from fxtrio.markdown import MarkdownContext\n\n"
            "def wrap_markdown(ctx, markdown):\n"
            "    same = ctx is ctx.request.state.seen and type(ctx) is MarkdownContext\n"
            "    return f'{markdown} {same}'"
        ),
    }
    async with open_llms(tmp_path, files) as client:
        assert (await client.get("/index.md")).text == "x True"


@rule("markdown.context.request")
@pytest.mark.parametrize("path", ["/shops/a%20b/rooms/x/y.md?q=1", "/shops/a%20b/rooms/x/y?q=1"])
async def test_markdown_context_request_has_the_parameters_of_the_route(
    tmp_path: Path, path: str
) -> None:
    text = (
        "from starlette.requests import Request\n\n"
        "def to_markdown(ctx):\n"
        "    assert isinstance(ctx.request, Request)\n"
        "    return f\"{ctx.request.path_params} {ctx.request.query_params['q']}\""
    )
    async with open_llms(tmp_path, {"shops/[shop]/rooms/[...rest]": text}) as client:
        response = await client.get(path, headers={"accept": "text/markdown"})
    assert response.text == "{'shop': 'a b', 'rest': 'x/y'} 1"


@rule("markdown.context.path")
@pytest.mark.parametrize("base_url", ["", "/app"])
@pytest.mark.parametrize(
    ("page", "suffixed"), [("/", "/index.md"), ("/notes", "/notes.md"), ("/notes/5", "/notes/5.md")]
)
async def test_markdown_context_path_is_that_of_the_page(
    tmp_path: Path, page: str, suffixed: str, base_url: str
) -> None:
    root = {"pages/llms.py": "def to_markdown(ctx):\n    return ctx.path"}
    files = {"index": "", "notes/index": "", "notes/[id]": "", **root}
    async with open_llms(tmp_path, files, base_url=base_url) as client:
        by_suffix = await client.get(base_url + suffixed)
        by_accept = await client.get((base_url + page), headers={"accept": "text/markdown"})
        if by_accept.status == 308:
            location = by_accept.headers["location"]
            by_accept = await client.get(location, headers={"accept": "text/markdown"})
    assert by_suffix.text == by_accept.text == page


RUNS = """
    @server
    async def load(request):
        request.app.state.runs.append("page")
        return {"n": 1}

    async def to_markdown(ctx):
        loaded = await ctx.run_loader()
        again = await ctx.run_loader()
        return f"{loaded} {loaded is again}"
"""


@rule("markdown.context.run_loader")
async def test_markdown_context_run_loader_runs_the_loader_of_the_page_alone(
    tmp_path: Path,
) -> None:
    layout = (
        "@server\nasync def load(request):\n    request.app.state.runs.append('layout')\n"
        "    return {'n': 0}"
    )
    renders = Renders()
    async with open_llms(tmp_path, {"layout": layout, "index": RUNS}, renders) as client:
        runs = client.app.state.runs = list[str]()
        response = await client.get("/index.md")
    assert (response.text, runs, renders.count) == ("{'n': 1} True", ["page"], 0)


@rule("markdown.context.run_loader")
async def test_markdown_context_run_loader_is_empty_without_a_loader(tmp_path: Path) -> None:
    text = "async def to_markdown(ctx):\n    return repr(await ctx.run_loader())"
    async with open_llms(tmp_path, {"index": text}) as client:
        assert (await client.get("/index.md")).text == "{}"


@pytest.mark.node
@rule("markdown.context.render_html")
def test_markdown_context_render_html_is_the_body_of_the_page_as_node_renders_it(
    responses: Responses,
) -> None:
    html = responses["/notes/5.md?as=html"].text
    assert '<div class="tour"><header>The tour</header>' in html
    assert "<h1>Note <!-- -->5</h1>" in html
    assert "<html" not in html and "<script" not in html


@rule("markdown.context.render_html")
@pytest.mark.parametrize("asks", [0, 1, 2])
async def test_markdown_context_render_html_happens_when_requested_and_once(
    tmp_path: Path, asks: int
) -> None:
    text = f"""
    @server
    async def load(request):
        request.app.state.runs.append("page")
        return {{}}

    async def to_markdown(ctx):
        return "".join([await ctx.render_html() for _ in range({asks})])
    """
    renders = Renders()
    async with open_llms(tmp_path, {"index": text}, renders) as client:
        runs = client.app.state.runs = list[str]()
        response = await client.get("/index.md")
    assert response.text == HTML * asks
    assert (len(runs), renders.count) == (min(asks, 1), min(asks, 1))


LIST = """
from fxtrio.markdown import LlmsPageInfo, LlmsTxtContext
from starlette.requests import Request

def llms_txt(ctx):
    request = ctx.request
    assert type(ctx) is LlmsTxtContext and isinstance(request, Request)
    assert type(ctx.pages) is tuple and all(type(each) is LlmsPageInfo for each in ctx.pages)
    if "default" in request.query_params:
        return "before\\n" + ctx.render_default()
    if "request" in request.query_params:
        return f"{request.method} {request.url.path} {request.headers['x-one']}"
    return "\\n".join(f"{each.path} {each.md_url} {each.title}" for each in ctx.pages)
"""
LISTED = {
    "index": "",
    "about": "",
    "blog/getting-started": "",
    "blog/[id]": "",
    "(shop)/big_sale": "",
    "docs/[[...rest]]": "",
    "_drafts/hidden": "",
    "layout": "",
    "pages/llms.py": LIST,
}


async def _llms_txt(root: Path, query: str = "") -> str:
    async with open_llms(root, LISTED, name="Field notes") as client:
        response = await client.get(f"/llms.txt{query}", headers={"x-one": "1"})
    assert response.status == 200, response.text
    return response.text


@rule("markdown.llms_context.passed", "markdown.llms_context.request")
async def test_markdown_llms_context_passed_to_llms_txt_has_the_request(tmp_path: Path) -> None:
    assert await _llms_txt(tmp_path, "?request") == "GET /llms.txt 1"


@rule("markdown.llms_context.pages", "markdown.page_info.fields")
async def test_markdown_llms_context_pages_are_those_without_parameters(tmp_path: Path) -> None:
    assert (await _llms_txt(tmp_path)).splitlines() == [
        "/ /index.md Home",
        "/about /about.md About",
        "/big_sale /big_sale.md Big Sale",
        "/blog/getting-started /blog/getting-started.md Getting Started",
        "/docs /docs.md Docs",
    ]


@rule("markdown.llms_context.render_default")
async def test_markdown_llms_context_render_default_is_the_generated_text(tmp_path: Path) -> None:
    text = await _llms_txt(tmp_path, "?default")
    first, heading, *_, last = text.splitlines()
    assert (first, heading) == ("before", "# Field notes")
    assert last == "- [Docs](http://testserver/docs.md)"
    (tmp_path / "pages/llms.py").unlink()
    without = {name: text for name, text in LISTED.items() if name != "pages/llms.py"}
    async with open_llms(tmp_path, without, name="Field notes") as client:
        assert "before\n" + (await client.get("/llms.txt")).text == text


@rule("markdown.page_info.fields")
def test_markdown_page_info_fields_are_three_texts() -> None:
    fields = [(each.name, str(each.type)) for each in attrs.fields(LlmsPageInfo)]
    assert fields == [("path", "str"), ("md_url", "str"), ("title", "str")]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        LlmsPageInfo("/a", "/a.md", "A").path = "/b"  # type: ignore[misc]  # what is tested
