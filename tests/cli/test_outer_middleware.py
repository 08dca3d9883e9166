"""Middleware that `app.py` adds is named where pages are rendered without it."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from fxtrio.compile.project import check_project
from fxtrio.config import read_config
from fxtrio.tools.project_checks.outer_middleware import outer_middleware
from fxtrio.tools.project_checks.project_files import beside_problems
from tests.trees import page, write_tree

IMPORTS = "from fxtrio import create_app\nfrom web import Outer, Timing\n"
REMEDY = "Name it in 'middleware' of fx.config.json, which acts on these pages as well."


@pytest.mark.parametrize(
    ("app", "found"),
    [
        ("app = create_app('.')", []),
        ("settings = dict(a=1)\nother = Timing(settings)\napp = create_app('.')", []),
        ("app = Outer(create_app('.'))", ["3:7: Outer"]),
        ("inner = create_app('.')\napp = web.Outer(app=inner)", ["4:7: web.Outer"]),
        ("app = Outer(create_app('.'))\napp = Timing(app)", ["3:7: Outer", "4:7: Timing"]),
        (
            "app = create_app('.')\napp.add_middleware(Timing, limit=3)\napp.add_route('/', go)",
            ["4:20: Timing"],
        ),
        ("app = (", []),
    ],
)
def test_middleware_around_the_app_is_found(tmp_path: Path, app: str, found: list[str]) -> None:
    write_tree(tmp_path, {"app.py": IMPORTS + app})

    problems = outer_middleware(tmp_path, of="exported pages")

    assert [one.head for one in problems] == [
        f"app.py:{one} is around the app, so exported pages are rendered without it. {REMEDY}"
        for one in found
    ]


@pytest.mark.parametrize("is_static", [True, False])
async def test_a_build_warns_where_it_stores_pages(tmp_path: Path, is_static: bool) -> None:
    index = page("STATIC = True" if is_static else "STATE = True")
    app = f"{IMPORTS}app = Outer(create_app('.'))\n"
    write_tree(tmp_path, {"app.py": app, "pages/index.fxl": index})
    config = read_config(tmp_path)[0]
    project = check_project(tmp_path, config)

    with trio.fail_after(60):
        found = await beside_problems(tmp_path, config, project, connects=False)

    outer = [one for one in found if one.path.endswith("app.py")]
    assert [one.severity.value for one in outer] == ["warning"] * is_static
