"""Which views of a build load scripts: what their files say, and what was proved of their code."""

from __future__ import annotations

import json

import attrs
import pytest

from fxtrio.compile.bundling.bundle import BundleResult, FileAssets, IslandUse, ScriptReason
from fxtrio.compile.publish.page_weights import BudgetExceeded, PageWeight, Weight, require_budget
from fxtrio.compile.scripts import dump_reasons, required_scripts, without_scripts
from fxtrio.manifest import Manifest, PageModule, ScriptsMode, View

CLICK = ScriptReason("ui/button.jsx", 3, 5, "onClick")
COUNTER = IslandUse("pages/a/index.fxl", 4, 2, "idle", "ui/counter.jsx#default", ("/_fx/c.js",))


def proved(*reasons: ScriptReason, islands: tuple[IslandUse, ...] = ()) -> BundleResult:
    """Return what was proved of the one view of `site`."""
    return BundleResult(
        build_id="",
        server="server.cjs",
        entry=FileAssets(module=""),
        files={},
        clients=(),
        scripts=(reasons,),
        islands=(islands,),
    )


def site(modes: dict[str, ScriptsMode] | None = None, *, streams: bool = False) -> Manifest:
    """Return a page in two layouts; ``modes`` is what index, layout and inner say."""
    sources = {
        "index": "pages/a/index.fxl",
        "inner": "pages/a/layout.fxl",
        "layout": "pages/layout.fxl",
    }
    modules = {
        source: PageModule(source=source, scripts=(modes or {}).get(name))
        for name, source in sources.items()
    }
    layouts = (sources["layout"], sources["inner"])
    view = View(id=0, kind="page", module=sources["index"], layouts=layouts, streams=streams)
    return Manifest(build_id="", mode="production", modules=modules, views=(view,))


def has_scripts(manifest: Manifest, *reasons: ScriptReason) -> bool:
    [view] = without_scripts(manifest.views, manifest.modules, proved(*reasons))
    return view.scripts


def test_a_view_without_a_reason_has_no_scripts() -> None:
    assert not has_scripts(site())
    assert has_scripts(site(), CLICK)


def test_nothing_is_known_of_a_build_in_which_nothing_was_proved() -> None:
    manifest = site()
    unproved = attrs.evolve(proved(), scripts=())

    assert without_scripts(manifest.views, manifest.modules, unproved) == manifest.views


def test_a_page_that_is_sent_in_parts_has_scripts() -> None:
    assert has_scripts(site(streams=True))


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        ({"index": "always"}, True),
        ({"layout": "always"}, True),
        ({"layout": "always", "inner": "auto"}, False),
        ({"layout": "none", "index": "always"}, True),
    ],
)
def test_the_nearest_file_decides(modes: dict[str, ScriptsMode], expected: bool) -> None:
    assert has_scripts(site(modes)) is expected


def test_a_page_that_must_have_none_and_needs_them_is_a_problem_with_its_place() -> None:
    manifest = site({"layout": "none"})

    [problem] = required_scripts(manifest, proved(CLICK))

    assert str(problem) == (
        "ui/button.jsx:3:5: onClick: needs scripts, but pages/layout.fxl has SCRIPTS = 'none'. "
        "Remove it, or write SCRIPTS = 'auto'."
    )
    assert required_scripts(manifest, proved()) == []
    assert required_scripts(site(), proved(CLICK)) == []


def test_the_reasons_of_a_build_are_written_by_view() -> None:
    written = json.loads(dump_reasons(site({"index": "always"}), proved(CLICK)))

    assert written == {"0": ["pages/a/index.fxl:1: SCRIPTS = 'always'", "ui/button.jsx:3: onClick"]}


def test_a_page_without_scripts_knows_what_its_islands_load() -> None:
    manifest, result = site(), proved(islands=(COUNTER,))
    [view] = without_scripts(manifest.views, manifest.modules, result)

    assert (view.scripts, view.client["islands"]) == (False, {COUNTER.key: ["/_fx/c.js"]})
    assert json.loads(dump_reasons(manifest, result)) == {
        "0": ["pages/a/index.fxl:4: <Island when=idle> of ui/counter.jsx"]
    }


def test_a_page_that_must_have_no_scripts_gets_none_from_its_render_either() -> None:
    for mode, known in (("none", True), ("auto", None)):
        manifest = site({"layout": mode})  # type: ignore[dict-item]  # one of the two

        [view] = without_scripts(manifest.views, manifest.modules, proved())

        assert view.client.get("never") is known


def test_the_islands_of_a_page_with_scripts_are_parts_of_it() -> None:
    manifest, result = site(), proved(CLICK, islands=(COUNTER,))
    [view] = without_scripts(manifest.views, manifest.modules, result)

    assert "islands" not in view.client
    assert json.loads(dump_reasons(manifest, result)) == {"0": [str(CLICK)]}


def test_islands_of_a_page_that_must_have_no_scripts_are_problems() -> None:
    [problem] = required_scripts(site({"index": "none"}), proved(islands=(COUNTER,)))

    assert str(problem).startswith("pages/a/index.fxl:4:2: an <Island>: needs scripts, but")


def test_a_page_above_the_budget_is_named_with_its_first_reason() -> None:
    page = PageWeight("/", Weight(90, 40), Weight(9, 4), Weight(20, 10), (str(CLICK), "more"))

    require_budget([page], 50)
    with pytest.raises(BudgetExceeded, match=r"ui/button\.jsx:3: onClick \(and 1 more\)") as raised:
        require_budget([page, attrs.evolve(page, script=Weight(0, 0))], 49)

    assert raised.value.pages == (page,)
