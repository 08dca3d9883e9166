"""What the repr of a local variable shows of an app, to error trackers and in tracebacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from fx.testing import open_app
from fxtrio.opaque import Opaque
from fxtrio.realtime.subscriptions import Membership
from fxtrio.serve.cache.cached_response import CachedResponse
from fxtrio.serve.pages.plan import ViewPlan
from fxtrio.serve.pages.site import Site
from tests.trees import page, write_tree


async def test_the_repr_of_a_site_has_nothing_of_what_it_holds(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page("")})
    async with open_app(tmp_path, mode="production") as client:
        site = client.app.site
    assert site.nonce
    assert site.nonce.decode() not in repr(site)
    assert len(repr(site)) < 100
    assert [*site.__rich_repr__()] == []
    assert len(repr(site.plans)) < 100


@pytest.mark.parametrize("record", [Site, ViewPlan, CachedResponse, Membership])
def test_records_that_hold_much_have_the_repr_of_any_object(record: type) -> None:
    assert issubclass(record, Opaque)
