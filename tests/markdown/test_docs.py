"""docs/reference/markdown.md: its project behaves as the page says."""

from __future__ import annotations

from pathlib import Path

from fx.testing import open_app
from fxtrio.markdown import prefers_markdown
from tests.plugins.pages import rows, write_project
from tests.trees import PAGE, write_tree

DOC = "reference/markdown.md"


async def test_the_project_of_the_page_answers_as_it_says(tmp_path: Path) -> None:
    rest = write_project(DOC, tmp_path)
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": PAGE,
            "pages/blog/index.fxl": PAGE,
            "pages/blog/drafts.fxl": PAGE,
            "pages/index.md": "# Hello",
        },
    )
    footer = "\n\n---\nField notes, /blog{}\n"
    async with open_app(tmp_path) as client:
        post = await client.get("/blog/5.md")
        assert post.text == "# Post 5\n\nIt rained." + footer.format("/5")
        assert post.headers["content-type"] == "text/markdown; charset=utf-8"
        same = await client.get("/blog/5", headers={"accept": "text/markdown"})
        assert same.text == post.text
        assert (await client.get("/blog.md")).text == "# The blog" + footer.format("")
        assert (await client.get("/index.md")).text == "# Hello"
        listed = (await client.get("/llms.txt")).text
        assert listed == rest["markdown"] + "\n3 pages.\n"


def test_the_accept_headers_of_the_page_get_what_it_says() -> None:
    table = rows(DOC, "Which `Accept` headers get Markdown")
    assert len(table) == 5
    for header, answer in table:
        assert prefers_markdown(header.strip("`")) is (answer == "Markdown")
