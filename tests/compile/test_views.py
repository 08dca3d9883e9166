"""Page trees become numbered views."""

from __future__ import annotations

from fxtrio.compile.views import PlannedSite, PlannedView, plan_site
from fxtrio.routes.scan import build_tree


def site_of(
    *files: str, standalone: set[str] | None = None, before: PlannedSite | None = None
) -> PlannedSite:
    tree = build_tree([f"{file}.fxl" for file in files])
    assert tree.problems == ()
    return plan_site(tree, {f"pages/{file}.fxl" for file in standalone or ()}, before)


def names_of(site: PlannedSite, view: int) -> tuple[str, list[str]]:
    planned = site.views[view]
    return short(planned), [layout.source[6:-4] for layout in planned.layouts]


def short(view: PlannedView) -> str:
    return view.source.removeprefix("pages/").removesuffix(".fxl")


def test_pages_come_first_in_order_of_specificity_with_their_layouts() -> None:
    site = site_of("layout", "template", "index", "blog/layout", "blog/[id]", "blog/new")
    assert site.routes == (("/", 0), ("/blog/new", 1), ("/blog/[id]", 2))
    assert names_of(site, 2) == ("blog/[id]", ["layout", "template", "blog/layout"])
    assert [view.id for view in site.views] == list(range(len(site.views)))


def test_boundaries_are_views_and_each_is_there_once() -> None:
    site = site_of("layout", "error", "a/index", "a/error", "b", "not-found")
    a, b = (site.views[id] for _, id in site.routes)
    nearest, outer, bare = (site.views[id] for id in a.boundaries)
    assert (short(nearest), short(outer), short(bare)) == ("a/error", "error", "error")
    assert names_of(site, outer.id)[1] == ["layout"]
    assert bare.layouts == ()
    assert b.boundaries == (outer.id, bare.id)
    assert nearest.boundaries == (outer.id, bare.id)
    assert outer.boundaries == (bare.id,)
    assert a.not_found == b.not_found == (site.not_found["/"],)
    assert len(site.views) == 6


def test_a_not_found_file_answers_for_its_folder() -> None:
    site = site_of("index", "not-found", "blog/index", "blog/not-found")
    assert {pattern: short(site.views[id]) for pattern, id in site.not_found.items()} == {
        "/": "not-found",
        "/blog": "blog/not-found",
    }


def test_nothing_is_around_a_standalone_layout() -> None:
    files = ("layout", "a/layout", "a/template", "a/b/layout", "a/b/index", "a/b/error")
    site = site_of(*files, standalone={"a/template"})
    assert names_of(site, 0) == ("a/b/index", ["a/template", "a/b/layout"])
    assert names_of(site, site.views[0].boundaries[0]) == (
        "a/b/error",
        ["a/template", "a/b/layout"],
    )


def test_the_nearest_loading_file_is_used() -> None:
    site = site_of("loading", "index", "a/loading", "a/index")
    assert [view.loading for view in site.views] == ["pages/loading.fxl", "pages/a/loading.fxl"]


def test_views_keep_their_numbers_while_others_come() -> None:
    files = ("layout", "error", "b", "d")
    before = site_of(*files)
    came = site_of(*files, "a", "c/index", "c/error", before=before)
    assert came.views[: len(before.views)] == before.views
    new = [short(view) for view in came.views[len(before.views) :]]
    assert new == ["a", "c/index", "c/error"]
    assert [view.id for view in came.views] == list(range(len(came.views)))
    fresh = site_of(*files, "a", "c/index", "c/error")
    assert [pattern for pattern, _ in came.routes] == [pattern for pattern, _ in fresh.routes]
    for (_, stored), (_, renumbered) in zip(came.routes, fresh.routes, strict=True):
        assert names_of(came, stored) == names_of(fresh, renumbered)
        around = [names_of(came, id) for id in came.views[stored].boundaries]
        assert around == [names_of(fresh, id) for id in fresh.views[renumbered].boundaries]


def test_views_are_renumbered_when_one_is_removed_or_changes_its_layout() -> None:
    before = site_of("layout", "a", "b", "c")
    assert site_of("layout", "a", "c", before=before) == site_of("layout", "a", "c")
    assert site_of("a", "b", "c", before=before) == site_of("a", "b", "c")
