"""Which forms of a page with ``CACHE`` caches between server and browser may keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from fx.testing import open_app
from tests.trees import page, write_tree

CACHED = """
    CACHE = {"revalidate": 60}

    def to_markdown(ctx):
        return "text"
    """
PUBLIC = """
    @server
    async def load(request):
        request.state.response.headers["cache-control"] = "public, max-age=5, s-maxage=60"
        request.state.response.headers["cdn-cache-control"] = "max-age=60"
        return {}
    """
OTHER_FORMS = ({"x-fx-navigation": "1"}, {"accept": "text/markdown"})
"""Headers that ask for another form of a page at the page's own URL."""


@pytest.mark.parametrize("python", [CACHED, PUBLIC + CACHED, PUBLIC])
@pytest.mark.parametrize("headers", OTHER_FORMS)
async def test_what_shares_the_url_of_a_page_is_for_the_browser_alone(
    tmp_path: Path, python: str, headers: dict[str, str]
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(python), "pages/llms.py": LLMS})
    async with open_app(tmp_path, mode="production", csp="off", llms=True) as client:
        for _ in range(2):
            answer = await client.get("/", headers=headers)
            (policy,) = answer.headers.getlist("cache-control")
            assert "private" in policy or policy == "no-store"
            assert "s-maxage" not in policy
            assert "cdn-cache-control" not in answer.headers
        page_itself = await client.get("/")
        markdown = await client.get("/index.md")
    assert "public" in page_itself.headers["cache-control"]
    if python != PUBLIC:
        assert "public" in markdown.headers["cache-control"]


async def test_a_browser_that_has_a_form_already_gets_not_modified(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(CACHED)})
    async with open_app(tmp_path, mode="production", csp="off", llms=True) as client:
        for headers in OTHER_FORMS:
            first = await client.get("/", headers=headers)
            again = {**headers, "if-none-match": first.headers["etag"]}
            second = await client.get("/", headers=again)
            assert (second.status, second.headers["cache-control"]) == (304, "private, no-cache")


LLMS = """
    def to_markdown(ctx):
        return "text"
    """
