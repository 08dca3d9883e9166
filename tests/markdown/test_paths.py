"""URLs of pages and of their Markdown."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fxtrio.markdown import llms_link, markdown_path, page_path

CASES = [("/", "/index.md"), ("/blog", "/blog.md"), ("/blog/x", "/blog/x.md"), ("/a.b", "/a.b.md")]


@pytest.mark.parametrize(("page", "markdown"), CASES)
def test_a_page_and_its_markdown_lead_to_each_other(page: str, markdown: str) -> None:
    assert markdown_path(page) == markdown
    assert page_path(markdown) == page


@pytest.mark.parametrize(
    "path", ["/", "/blog", "/.md", "/blog/.md", "/blog.MD", "/a.mdx", "", "x.md"]
)
def test_other_paths_name_no_markdown(path: str) -> None:
    assert page_path(path) is None


def test_index_is_the_root_only_at_the_root() -> None:
    assert page_path("/blog/index.md") == "/blog/index"


@given(st.lists(st.text(st.characters(exclude_characters="/"), min_size=1), min_size=1))
def test_every_page_path_comes_back(segments: list[str]) -> None:
    page = "/" + "/".join(segments)
    assume(page != "/index")  # /index.md is the root's
    assert page_path(markdown_path(page)) == page


def test_pages_point_to_llms_txt_below_the_base_url() -> None:
    assert llms_link("") == '</llms.txt>; rel="llms-txt"'
    assert llms_link("/app") == '</app/llms.txt>; rel="llms-txt"'
