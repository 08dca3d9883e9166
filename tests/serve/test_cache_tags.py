"""Tags: loaders name what their data comes from, and actions what has changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from trio.testing import MockClock

from fx.cache import revalidate, tags
from tests.serve.test_cache_revalidation import opened
from tests.trees import page

NAVIGATION = {"x-fx-navigation": "1"}

LAYOUT = """
    from fx.cache import tags

    @server
    async def load(request):
        tags("menu, 1")
        return {"menu": []}
    """
CART = """
    CACHE = {"revalidate": 60}
    from fx.cache import tags

    def find():
        tags("cart", "books", "cart")
        return 1

    @server
    async def load(request):
        return {"count": find()}
    """
SHOP = """
    from fx.cache import revalidate
    from fx.runtime import invalidate_routes, redirect

    @action
    async def put(request):
        how = (await request.json())["how"]
        revalidate(tag="cart")
        if how == "fails":
            raise ActionError("no", 409)
        if how == "leaves":
            return invalidate_routes(redirect("/"), "/list")
        return {"background": [revalidate_later]} if how == "later" else invalidate_routes({}, "/a")

    async def revalidate_later():
        revalidate(tag="menu, 1")

    @action
    async def stream(request):
        yield 1
        revalidate(tag="menu, 1")
        yield 2
        revalidate("/about", tag="cart")
    """
ABOUT = """
    CACHE = {"revalidate": 60}
    """
FILES = {
    "pages/shelf/layout.fxl": page(LAYOUT),
    "pages/shelf/cart.fxl": page(CART),
    "pages/about.fxl": page(ABOUT),
    "pages/index.fxl": page(SHOP),
}
URLS = ["/shelf/cart", "/about"]


@pytest.mark.parametrize(
    ("how", "header", "missed"),
    [
        ("returns", "/a, tag:cart", ["/shelf/cart"]),
        ("leaves", "/list, tag:cart", ["/shelf/cart"]),
        ("fails", "tag:cart", ["/shelf/cart"]),
        ("later", "tag:cart", ["/shelf/cart"]),
    ],
)
async def test_an_action_drops_the_pages_of_a_tag_here_and_in_the_browser(
    tmp_path: Path, autojump_clock: MockClock, how: str, header: str, missed: list[str]
) -> None:
    async with opened(tmp_path, FILES) as client:
        for url in URLS:
            assert (await client.get(url)).headers["x-fx-cache"] == "miss"
        result = await client.action("/", "put", {"how": how})
        found = {url: (await client.get(url)).headers["x-fx-cache"] for url in URLS}
    assert result.headers["x-fx-invalidate"] == header
    assert [url for url, state in found.items() if state == "miss"] == missed


async def test_a_stream_names_tags_at_its_end(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with opened(tmp_path, FILES) as client:
        for url in URLS:
            await client.get(url)
        result = await client.action("/", "stream")
        states = [(await client.get(url)).headers["x-fx-cache"] for url in URLS]
    assert (result.values, result.ok) == ([1, 2], True)
    assert result.data == {"invalidate": ["tag:menu%2C%201", "tag:cart"]}
    assert states == ["miss", "miss"]


async def test_a_payload_has_the_tags_of_all_its_loaders(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with opened(tmp_path, FILES) as client:
        for _ in range(2):
            payload = (await client.get("/shelf/cart", headers=NAVIGATION)).json()
            assert sorted(payload["tags"]) == ["books", "cart", "menu, 1"]
            assert payload["ttl"] == 60
        assert "tags" not in (await client.get("/about", headers=NAVIGATION)).json()


async def test_tags_reach_the_other_processes(tmp_path: Path, autojump_clock: MockClock) -> None:
    sent: list[str] = []
    async with opened(tmp_path, FILES) as client:
        cache = client.app.state.fx.cache
        cache.on_drop = lambda *urls: sent.extend(urls)
        await client.get("/shelf/cart")
        await client.action("/", "put", {"how": "returns"})
        assert set(sent) == {"/a", "tag:cart"}
        await client.get("/shelf/cart")
        assert cache.forget("tag:menu%2C%201") == 1  # what another process announces


def test_tags_belong_to_a_request() -> None:
    with pytest.raises(RuntimeError, match="no request is being handled here"):
        tags("cart")


def test_revalidating_a_tag_needs_an_app() -> None:
    with pytest.raises(Exception, match="revalidate"):
        revalidate(tag="cart")
