"""Which pages reload their data after a save, and when they learn of it."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from fxtrio.compile.build_steps import planned_site
from fxtrio.compile.project import CheckedProject, check_project
from fxtrio.config import Config
from fxtrio.develop.build.site_order import added_views, pages_beside
from fxtrio.develop.report.request_logs import Records
from tests.trees import write_tree

PAGE = "export default () => <p>page</p>;\n"


def checked(root: Path, *names: str) -> CheckedProject:
    write_tree(root, {f"pages/{name}": PAGE for name in names})
    return check_project(root, Config())


@pytest.mark.parametrize(
    ("came", "beside"),
    [
        ("news.fxl", {"pages/news.fxl", "pages/blog/[id].fxl"}),
        ("layout.fxl", None),  # around every page
        ("error.fxl", None),  # in the place of any page
        ("notes.md", None),  # loaders read Markdown
    ],
)
def test_a_page_that_comes_concerns_those_whose_urls_it_may_take(
    tmp_path: Path, came: str, beside: set[str] | None
) -> None:
    before = planned_site(checked(tmp_path, "index.fxl", "about.fxl", "blog/[id].fxl"))
    project = checked(tmp_path, came)
    site = planned_site(project, before)

    assert pages_beside(project, before, site, {f"pages/{came}"}) == beside


def test_node_learns_of_new_views_alone_only_where_others_are_what_they_were(
    tmp_path: Path,
) -> None:
    project = checked(tmp_path, "index.fxl", "about.fxl")
    before = planned_site(project)
    assert added_views(project, before, None) is None
    project = checked(tmp_path, "a.fxl")
    more = added_views(project, planned_site(project, before), before)
    assert more is not None
    assert (more["from"], [view["module"] for view in more["views"]]) == (2, ["pages/a.fxl"])
    project = checked(tmp_path, "layout.fxl")
    assert added_views(project, planned_site(project, before), before) is None


async def test_browsers_learn_of_new_code_and_nobody_waits_for_them(tmp_path: Path) -> None:
    records = Records(tmp_path)
    with records.follower() as (_, messages):
        for number in range(1000):
            records.tell_swapped((f"pages/p{number}.fxl",), at_once=True)
        data = {"sources": ["pages/p0.fxl"], "atOnce": True}
        assert messages.receive_nowait() == {"type": "custom", "event": "fx:swapped", "data": data}
        with pytest.raises(trio.WouldBlock):
            for _ in range(1000):
                messages.receive_nowait()
