"""A bundle is loaded, replaced, or named with the reason why it cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
import trio.testing

from fxtrio.ssr.errors import SsrStartFailed
from fxtrio.ssr.pool import open_ssr_pool
from tests.ssr.pools import BUNDLES, PAGES, node_processes, open_pool, state

pytestmark = pytest.mark.node


async def test_a_bundle_that_cannot_be_loaded_is_named_with_its_error() -> None:
    with trio.fail_after(30), pytest.raises(SsrStartFailed) as failed:
        async with open_ssr_pool(bundle=BUNDLES / "broken.mjs", workers=2):
            pytest.fail("opened")
    error = failed.value
    assert error.bundle == BUNDLES / "broken.mjs"
    assert error.cause == "exited with code 1"
    assert "SyntaxError: a bundle that is broken on purpose" in error.log
    assert "about to fail" in str(error)
    assert not node_processes()


async def test_a_missing_bundle_is_named() -> None:
    with trio.fail_after(30), pytest.raises(SsrStartFailed, match=r"gone\.mjs"):
        async with open_ssr_pool(bundle=BUNDLES / "gone.mjs"):
            pytest.fail("opened")


@pytest.mark.parametrize("node", ["/nowhere/node", str(BUNDLES)])
async def test_a_missing_node_is_named_with_a_remedy(node: str) -> None:
    with trio.fail_after(30), pytest.raises(SsrStartFailed, match="Install Node") as failed:
        async with open_ssr_pool(bundle=PAGES, node=node):
            pytest.fail("opened")
    assert repr(node) in str(failed.value)


async def test_a_bundle_may_have_any_name(tmp_path: Path) -> None:
    bundle = tmp_path / "my app (1) #ü%20" / "server.mjs"
    bundle.parent.mkdir()
    bundle.write_text(PAGES.read_text())
    async with open_pool(bundle=bundle) as pool:
        assert (await pool.render(0, state())).html == b"<p>Hello, you</p>"
