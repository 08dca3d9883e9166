"""Markdown hooks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.llms import open_llms
from tests.contract.projects import open_pages
from tests.contract.rules import rule


def hook(name: str, value: str, *, is_async: bool, parameters: str = "ctx") -> str:
    """Return the source of a hook that returns ``value``."""
    return f"{'async ' if is_async else ''}def {name}({parameters}):\n    return {value}\n\n"


@rule("markdown.by_name")
async def test_markdown_by_name_hooks_are_found_without_an_import(tmp_path: Path) -> None:
    files = {
        "about": hook("to_markdown", "'about'", is_async=False),
        "pages/llms.py": hook("llms_txt", "'the list'", is_async=False)
        + hook("wrap_markdown", "markdown + '!'", is_async=False, parameters="ctx, markdown"),
    }
    assert "import" not in "".join(files.values())
    async with open_llms(tmp_path, files) as client:
        assert (await client.get("/about.md")).text == "about!"
        assert (await client.get("/llms.txt")).text == "the list"


@rule("markdown.by_name")
async def test_markdown_by_name_other_functions_are_no_hooks(tmp_path: Path) -> None:
    files = {
        "about": hook("as_markdown", "'about'", is_async=False),
        "pages/deeper/llms.py": hook("llms_txt", "'not the root'", is_async=False),
    }
    async with open_llms(tmp_path, files) as client:
        assert (await client.get("/about.md")).text.strip() == "rendered"
        assert "not the root" not in (await client.get("/llms.txt")).text


@rule("markdown.sync_async")
@pytest.mark.parametrize("is_async", [False, True])
async def test_markdown_sync_async_holds_for_each_hook_at_each_level(
    tmp_path: Path, is_async: bool
) -> None:
    wrap = hook("wrap_markdown", "f'[{markdown}]'", is_async=is_async, parameters="ctx, markdown")
    files = {
        "a/own": hook("to_markdown", "'of the page'", is_async=is_async),
        "a/b/inherited": "",
        "other": "",
        "pages/a/llms.py": hook("to_markdown", "'of the folder'", is_async=is_async),
        "pages/llms.py": wrap
        + hook("to_markdown", "'of the root'", is_async=is_async)
        + hook("llms_txt", "'the list'", is_async=is_async),
    }
    async with open_llms(tmp_path, files) as client:
        texts = {path: (await client.get(path)).text for path in MD_PATHS}
    assert texts == MD_PATHS


MD_PATHS = {
    "/a/own.md": "[of the page]",
    "/a/b/inherited.md": "[of the folder]",
    "/other.md": "[of the root]",
    "/llms.txt": "the list",
}

LADDER = {
    "index": "",
    "own": (
        "def to_markdown(ctx):\n    return 'page' if 'page' in ctx.request.query_params else None"
    ),
    "sub/deep/leaf": "",
    "sub/deep/own": "def to_markdown(ctx):\n    return None",
    "subway": "",
    "pages/sub/llms.py": (
        "def to_markdown(ctx):\n    return None if 'decline' in ctx.request.query_params else 'sub'"
    ),
    "pages/llms.py": (
        "def to_markdown(ctx):\n    return None if 'all' in ctx.request.query_params else 'root'"
    ),
}


@rule("markdown.to_markdown")
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/own.md?page", "page"),
        ("/own.md", "root"),
        ("/index.md", "root"),
        ("/sub/deep/leaf.md", "sub"),
        ("/sub/deep/own.md", "sub"),
        ("/sub/deep/leaf.md?decline", "root"),
        ("/subway.md", "root"),
        ("/sub/deep/leaf.md?decline&all", "rendered"),
    ],
)
async def test_markdown_to_markdown_of_the_page_then_of_the_nearest_folder(
    tmp_path: Path, path: str, text: str
) -> None:
    async with open_llms(tmp_path, LADDER) as client:
        response = await client.get(path)
    assert (response.status, response.text.strip()) == (200, text)
    assert response.headers["content-type"] == "text/markdown; charset=utf-8"


@rule("markdown.to_markdown")
async def test_markdown_to_markdown_may_return_an_empty_text_but_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = {
        "empty": "def to_markdown(ctx):\n    return ''",
        "wrong": "def to_markdown(ctx):\n    return {'text': 1}",
    }
    async with open_llms(tmp_path, files) as client:
        empty, wrong = await client.get("/empty.md"), await client.get("/wrong.md")
    assert (empty.status, empty.text, wrong.status) == (200, "", 500)
    assert "pages/wrong.fxl: to_markdown()" in caplog.text


@rule("markdown.llms_txt")
async def test_markdown_llms_txt_is_served_or_the_default_where_it_declines(tmp_path: Path) -> None:
    text = "def llms_txt(ctx):\n    return '# Mine' if 'mine' in ctx.request.query_params else None"
    async with open_llms(tmp_path, {"index": "", "pages/llms.py": text}, name="Shop") as client:
        mine, default = await client.get("/llms.txt?mine"), await client.get("/llms.txt")
    assert (mine.status, mine.text) == (200, "# Mine")
    assert default.text == "# Shop\n\n## Pages\n\n- [Home](http://testserver/index.md)\n"


WRAP = """
def wrap_markdown(ctx, markdown):
    if ctx.path == "/plain":
        return None
    return f"<!-- {ctx.path} -->\\n{markdown}\\n<!-- end -->"

def to_markdown(ctx):
    return "folder" if ctx.path == "/folder" else None
"""


@rule("markdown.wrap_markdown")
async def test_markdown_wrap_markdown_goes_around_every_source(tmp_path: Path) -> None:
    files = {
        "folder": "",
        "own": "def to_markdown(ctx):\n    return 'own'",
        "file": "",
        "converted": "",
        "plain": "def to_markdown(ctx):\n    return 'plain'",
        "pages/file.md": "file\n",
        "pages/llms.py": WRAP,
    }
    async with open_llms(tmp_path, files) as client:
        for path, text in {
            "/folder": "folder",
            "/own": "own",
            "/file": "file\n",
            "/converted": "rendered\n",
        }.items():
            wrapped = f"<!-- {path} -->\n{text}\n<!-- end -->"
            assert (await client.get(f"{path}.md")).text == wrapped
            accepting = await client.get(path, headers={"accept": "text/markdown"})
            assert accepting.text == wrapped
        assert (await client.get("/plain.md")).text == "plain"


async def test_hooks_are_not_called_without_the_feature(tmp_path: Path) -> None:
    async with open_pages(tmp_path, {"index": "def to_markdown(ctx):\n    return 'x'"}) as client:
        response = await client.get("/index.md")
        accepting = await client.get("/", headers={"accept": "text/markdown"})
        listed = await client.get("/llms.txt")
    assert (response.status, listed.status) == (404, 404)
    assert accepting.headers["content-type"].startswith("text/html")


ONCE = """
    @server
    async def load(request):
        request.app.state.log.append("page")
        return {}, 203

    async def to_markdown(ctx):
        import trio
        if "together" in ctx.request.query_params:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ctx.run_loader)
                nursery.start_soon(ctx.render_html)
        elif "html" in ctx.request.query_params:
            await ctx.render_html()
            await ctx.run_loader()
        else:
            await ctx.run_loader()
            await ctx.render_html()
        return "# once"
"""
AROUND = """
    @server
    async def load(request):
        request.app.state.log.append("layout")
        return {}
"""


@rule("markdown.context.run_loader")
@pytest.mark.parametrize("order", ["loader", "html", "together"])
async def test_markdown_context_run_loader_and_render_html_run_a_loader_once(
    tmp_path: Path, order: str
) -> None:
    files = {"index": ONCE, "layout": AROUND}
    async with open_pages(tmp_path, files, llms={"enabled": True}) as client:
        client.app.state.log = log = list[str]()
        response = await client.get(f"/index.md?{order}")
    assert (response.status, response.text, sorted(log)) == (203, "# once", ["layout", "page"])


@rule("endpoints.markdown")
@pytest.mark.parametrize("path", ["/index.md", "/llms.txt", "/"])
async def test_endpoints_markdown_other_methods_are_405_as_to_the_page(
    tmp_path: Path, path: str
) -> None:
    async with open_pages(tmp_path, "", llms={"enabled": True}) as client:
        posted, options = await client.post(path), await client.request("OPTIONS", path)
    assert (posted.status, posted.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
    assert (options.status, options.headers["allow"]) == (204, "GET, HEAD, OPTIONS")
