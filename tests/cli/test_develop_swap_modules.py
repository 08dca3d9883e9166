"""Modules as applications write them: what is new of them is new wherever it is used."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.test_develop_swap import OTHER, PAGE, data, developed
from tests.cli.test_develop_swap import root as root  # a fixture
from tests.trees import write_tree

RING = {
    "shop_swap/a.py": "from shop_swap import b\n\nOWN = 'a1'\n\n\n"
    "def both():\n    return OWN + b.OWN\n",
    "shop_swap/b.py": "from shop_swap import a\n\nOWN = 'b1'\n\n\n"
    "def both():\n    return a.OWN + OWN\n",
}
RING_LATER = {
    "shop_swap/a.py": RING["shop_swap/a.py"].replace("from shop_swap", "from ."),
    "shop_swap/b.py": "OWN = 'b1'\n\n\ndef both():\n    from . import a\n\n"
    "    return a.OWN + OWN\n",
}


def page(imports: str, rows: str) -> dict[str, str]:
    """Return the page file that shows an expression of what it imports."""
    text = PAGE.replace("from shop_swap.stock import count", imports)
    return {"pages/index.fxl": text.replace("count()", rows)}


@pytest.mark.parametrize("ring", [RING, RING_LATER], ids=["at the top", "in a function"])
async def test_modules_in_a_ring_are_all_new(root: Path, ring: dict[str, str]) -> None:
    write_tree(root, {**ring, **page("from shop_swap import a, b", "a.both() + b.both()")})
    async with developed(root) as (project, client):
        for file, old, new, rows in (
            ("b", "b1", "b2", "a1b2a1b2"),
            ("a", "a1", "a2", "a2b2a2b2"),
            ("b", "b2", "b3", "a2b3a2b3"),
        ):
            project.swapper.swap(project.edit(f"shop_swap/{file}.py", old, new))

            assert (await data(client, "/"))["rows"] == rows


async def test_a_package_may_cover_a_module_with_what_it_takes_from_it(root: Path) -> None:
    files = {
        "shop_swap/price.py": "def price():\n    return 'p1'\n",
        "shop_swap/__init__.py": "from .price import price\n",
    }
    write_tree(root, {**files, **page("from shop_swap import price", "price()")})
    async with developed(root) as (project, client):
        project.swapper.swap(project.edit("shop_swap/price.py", "p1", "p2"))
        assert (await data(client, "/"))["rows"] == "p2"
        done = project.swapper.swap(project.edit("shop_swap/price.py", "def", "1 / 0\ndef"))

        assert done.error.startswith("ZeroDivisionError")
        assert callable(sys.modules["shop_swap"].price)


async def test_names_that_are_handed_on_by_stars_are_new(root: Path) -> None:
    files = {
        "shop_swap/parts.py": "__all__ = ['price']\n\n\ndef price():\n    return 'p1'\n",
        "shop_swap/api.py": "from shop_swap.parts import *\n",
        "shop_swap/__init__.py": "from .api import *\n",
    }
    write_tree(root, {**files, **page("from shop_swap import *", "price()")})
    async with developed(root) as (project, client):
        project.swapper.swap(project.edit("shop_swap/parts.py", "p1", "p2"))

        assert (await data(client, "/"))["rows"] == "p2"


async def test_values_that_answer_everything_or_nothing_may_be_imported(root: Path) -> None:
    lazy = (
        "class Column:\n    def __getattr__(self, name):\n        return Column()\n\n"
        "    def __bool__(self):\n        raise TypeError('it is an expression')\n\n\n"
        "class Proxy:\n    def __getattribute__(self, name):\n"
        "        raise RuntimeError('there is no request')\n\n\n"
        "class Kind:\n    pass\n\n\ncol = Column()\nproxy = Proxy()\n"
    )
    uses = f"from shop_swap.lazy import col, proxy\n{PAGE}"
    write_tree(root, {"shop_swap/lazy.py": lazy, "pages/index.fxl": uses})
    units = "class Unit:\n    pass\n\n\nUNIT = 1\n"  # a class is looked for everywhere
    write_tree(root, {"shop_swap/units.py": units})
    async with developed(root) as (project, client):
        done = project.swapper.swap(project.edit("shop_swap/units.py", "= 1", "= 7"))

        assert (done.restart, done.failed) == ("", "")
        assert (await data(client, "/"))["rows"] == 21


@pytest.mark.parametrize("end", ["raise SystemExit(3)", "sys.exit('There is no database.')"])
async def test_a_module_that_ends_the_process_does_not_end_the_server(root: Path, end: str) -> None:
    async with developed(root) as (project, client):
        new = f"import sys\n\n{end}\nUNIT = 1"
        done = project.swapper.swap(project.edit("shop_swap/units.py", "UNIT = 1", new))

        assert done.error.startswith("SystemExit: ")
        assert f'File "{root}/shop_swap/units.py", line 3' in done.failed
        assert (await data(client, "/"))["rows"] == 3


STATE = (
    "from functools import lru_cache\n\nSEEN = []\n\n\n"
    "class Cache:\n    rows = []\n\n    def __init__(self):\n        self.items = {}\n\n\n"
    "CACHE = Cache()\n\n\n@lru_cache\ndef made(make):\n    return make()\n"
)


@pytest.mark.parametrize(
    "keep",
    [
        "state.SEEN.append({'all': [Kind()]})",
        "state.CACHE.items['one'] = Kind()",
        "state.Cache.rows.append(Kind())",
        "state.made(Kind)",
    ],
    ids=["in containers", "of an object", "of a class", "in a cache"],
)
async def test_instances_are_found_wherever_they_are_referenced(root: Path, keep: str) -> None:
    write_tree(
        root,
        {
            "shop_swap/state.py": STATE,
            "shop_swap/kinds.py": "class Kind:\n    pass\n",
            "pages/other.fxl": "from shop_swap import state\nfrom shop_swap.kinds import Kind\n"
            + OTHER.replace("from shop_swap.state import SEEN\n", "")
            .replace("SEEN.append(1)", keep)
            .replace("len(SEEN)", "1"),
        },
    )
    async with developed(root) as (project, client):
        await data(client, "/other")
        done = project.swapper.swap(project.saved("shop_swap/kinds.py"))

    assert done.restart == "shop_swap.state: it keeps instances of Kind"


async def test_a_page_that_keeps_instances_is_named_as_its_file(root: Path) -> None:
    keeper = "KEPT = []\n\n\n@server\nasync def load(request):\n"
    keeper += "    request.app.state.keep = KEPT.append\n    return {}\n\n\n"
    keeper += "export default () => 1;\n"
    user = "from shop_swap.kinds import Kind\n" + OTHER.replace(
        "SEEN.append(1)", "request.app.state.keep(Kind())"
    )
    kinds = {"shop_swap/kinds.py": "class Kind:\n    pass\n"}
    write_tree(root, {**kinds, "pages/keeper.fxl": keeper, "pages/other.fxl": user})
    async with developed(root) as (project, client):
        await data(client, "/keeper")
        await data(client, "/other")
        done = project.swapper.swap(project.saved("shop_swap/kinds.py"))

    assert done.restart == "pages/keeper.fxl: it keeps instances of Kind"


@pytest.mark.parametrize("name", ["shop_swap.guards:mark", "shop_swap.guards.mark"])
async def test_pages_are_rendered_again_when_a_hook_is_new(root: Path, name: str) -> None:
    hook = "async def mark(request):\n    request.state.mark = 'one'\n"
    settings = json.dumps({"routeMiddleware": {"pages": [name]}})
    write_tree(root, {"fx.config.json": settings, "shop_swap/guards.py": hook})
    write_tree(root, page("from shop_swap.stock import count", "request.state.mark"))
    async with developed(root) as (project, client):
        done = project.swapper.swap(project.edit("shop_swap/guards.py", "one", "two"))

        assert set(done.sources) == {"pages/index.fxl", "pages/other.fxl"}
        assert (await data(client, "/"))["rows"] == "two"


@pytest.mark.parametrize("name", ["shop_swap.stamp:Stamp", "shop_swap.stamp.Stamp"])
async def test_middleware_needs_a_new_process_however_it_is_named(root: Path, name: str) -> None:
    stamp = "class Stamp:\n    def __init__(self, app):\n        self.app = app\n\n"
    stamp += "    async def __call__(self, *call):\n        await self.app(*call)\n"
    settings = json.dumps({"middleware": [name]})
    write_tree(root, {"fx.config.json": settings, "shop_swap/stamp.py": stamp})
    async with developed(root) as (project, client):
        await data(client, "/")
        done = project.swapper.swap(project.saved("shop_swap/stamp.py"))

    assert done.restart == "shop_swap.stamp: middleware is created there"


async def test_a_function_that_a_setting_names_needs_a_new_process(root: Path) -> None:
    settings = json.dumps({"translate": "shop_swap.lang:translate"})
    lang = "def translate(request, message):\n    return message\n"
    write_tree(root, {"fx.config.json": settings, "shop_swap/lang.py": lang})
    async with developed(root) as (project, client):
        await data(client, "/")
        done = project.swapper.swap(project.saved("shop_swap/lang.py"))

    assert done.restart == "shop_swap.lang: a setting names it"


async def test_a_file_of_the_app_that_a_page_imports_is_one_module_after_each_change(
    root: Path,
) -> None:
    endpoint = "from shop_swap.units import UNIT\n\nHELD = []\n\n\nasync def get(request):\n"
    endpoint += "    HELD.append(UNIT)\n    return {'held': HELD}\n"
    uses = page("from importlib import import_module", "import_module('pages.api.held').HELD")
    write_tree(root, {"pages/api/held.py": endpoint, **uses})
    async with developed(root) as (project, client):
        for file, old, new, value in (
            ("pages/api/held.py", "HELD = []", "HELD = ['new']", ["new", 1]),
            ("shop_swap/units.py", "UNIT = 1", "UNIT = 2", ["new", 2]),
        ):
            project.swapper.swap(project.edit(file, old, new))

            assert (await client.get("/api/held")).json() == {"held": value}
            assert (await data(client, "/"))["rows"] == value
