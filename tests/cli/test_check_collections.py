"""`fx check` and `fx build` find mistakes in the files of collections, before a page reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from fxtrio.cli.import_check.process import order_of, try_application, try_front_matter
from fxtrio.compile.project import check_project
from fxtrio.config import read_config
from tests.trees import page, write_tree

MODEL = """
    import attrs

    @attrs.frozen
    class Recipe:
        title: str
        minutes: int
"""
READING = """
    from fx import content
    from models import Recipe

    @server
    async def load(request):
        return {"n": len(await content.load("recipes", Recipe, url="/recipes/{slug}"))}
"""
WRONG = "---\ntitle: Soup\nminutes: long\n---\n\n# Soup\n"
RIGHT = "---\ntitle: Soup\nminutes: 20\n---\n\n# Soup\n"
FOUND = "recipes/soup.md:3:1: 'minutes': Expected a whole number. Change it, or the class Recipe."


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


async def checked(root: Path, files: dict[str, str]) -> list[str]:
    """Return what `fx check` finds."""
    write_tree(root, {"models.py": MODEL, **files})
    config = read_config(root)[0]
    order = order_of(root, check_project(root, config), config, app="")
    with trio.fail_after(60):
        return sorted(one.head for one in (await try_application(order)).problems)


async def built(root: Path, files: dict[str, str]) -> list[str]:
    """Return what `fx build` finds beside its own checks."""
    write_tree(root, {"models.py": MODEL, **files})
    with trio.fail_after(60):
        found = await try_front_matter(root, check_project(root, read_config(root)[0]))
    return [one.head for one in found]


@pytest.mark.parametrize("find", [checked, built])
async def test_front_matter_that_does_not_fit_the_model(tmp_path: Path, find: object) -> None:
    files = {"pages/index.fxl": page(READING), "recipes/soup.md": WRONG}
    assert callable(find)
    assert await find(tmp_path, files) == [FOUND]
    assert await find(tmp_path, {"recipes/soup.md": RIGHT}) == []


async def test_a_problem_of_a_page_that_is_also_in_a_collection_is_reported_once(
    tmp_path: Path,
) -> None:
    files = {
        "pages/docs/a.md": WRONG,
        "pages/docs/content.py": "from models import Recipe as FrontMatter",
        "pages/index.fxl": page(READING.replace('"recipes"', '"pages/docs"')),
    }
    wrong = FOUND.replace("recipes/soup", "pages/docs/a")
    assert await checked(tmp_path, files) == [wrong]


@pytest.mark.parametrize(
    "call",
    [
        "from fx.content import load as read\n"
        'async def soups(): return await read(FOLDER, model=Recipe, url="/r/{slug}")',
        "import fx.content\nasync def soups(): return await fx.content.load('recipes', Recipe)",
    ],
)
async def test_calls_of_endpoints_and_modules(tmp_path: Path, call: str) -> None:
    module = f"from models import Recipe\nFOLDER = 'recipes'\n{call}\n"
    files = {
        "soups.py": module,
        "pages/index.fxl": page("import soups"),
        "pages/api/feed.py": "from fx import content\nfrom models import Recipe\n"
        "async def get(request):\n    return await content.load('recipes', Recipe)\n",
        "recipes/soup.md": WRONG,
        "recipes/tea.md": "[lost](nowhere.md)\n",
    }
    found = await checked(tmp_path, files)
    assert FOUND in found
    assert [one.partition(".md")[0] for one in found].count("recipes/soup") == 1
    assert any(one.startswith("recipes/tea.md:1:1: 'nowhere.md'") for one in found)
    assert await built(tmp_path, {}) == found


async def test_a_folder_that_does_not_exist_is_reported_at_the_call(tmp_path: Path) -> None:
    assert await checked(tmp_path, {"pages/index.fxl": page(READING)}) == [
        "pages/index.fxl:6:1: there is no folder 'recipes'. Create it, or correct the name: it is "
        "relative to the project folder."
    ]


async def test_folders_that_only_the_running_code_knows_are_left_to_it(tmp_path: Path) -> None:
    files = {
        "pages/index.fxl": page(
            "from fx import content\n\n@server\nasync def load(request):\n"
            "    name = request.path_params['a']\n    return await content.load(name)\n"
        )
    }
    assert await checked(tmp_path, files) == []


async def test_a_build_does_not_need_what_only_the_server_has(tmp_path: Path) -> None:
    needing = f"import os\nURL = os.environ['NO_SUCH_URL']\n{page(READING)}"
    assert await built(tmp_path, {"pages/index.fxl": needing, "recipes/soup.md": WRONG}) == []


async def test_the_check_asks_no_object_of_the_application_for_attributes(tmp_path: Path) -> None:
    settings = """
        import sys

        class Late:
            def __getattribute__(self, name):
                raise RuntimeError(f"asked for {name} outside of a request")

        class Settings:
            @property
            def load(self):
                raise RuntimeError("no connection")

        late, settings = Late(), Settings()
        sys.modules["later"] = late
    """
    reading = """
        from fx import content
        from settings import late, settings

        @server
        async def load(request):
            late.load("recipes")
            settings.load("recipes")
            return {"n": len(await content.load(late, late, url=late))}
    """
    files = {"settings.py": settings, "pages/index.fxl": page(reading)}
    assert await checked(tmp_path, files) == []


@pytest.mark.parametrize(
    "change",
    ["here.unlink()", "here.write_text('def load(:')", "here.write_bytes(b'load\\0')"],
)
async def test_a_module_that_is_changed_after_its_import_is_left_to_the_next_check(
    tmp_path: Path, change: str
) -> None:
    module = f"from pathlib import Path\nhere = Path(__file__)\n# load\n{change}\n"
    handler = "async def get(request):\n    return {}\n"
    files = {
        "pages/index.fxl": page(f"    import changing{READING}"),
        "changing.py": module,
        "pages/api/feed.py": f"{module}{handler}",
        "recipes/soup.md": WRONG,
    }
    assert await checked(tmp_path, files) == [FOUND]


async def test_modules_are_read_by_their_coding_line(tmp_path: Path) -> None:
    coded = "# coding: latin-1\nNAME = 'Crème'\nfrom fx import content\nfrom models import Recipe\n"
    calling = "async def soups():\n    return await content.load('recipes', Recipe)\n"
    write_tree(tmp_path, {"pages/index.fxl": page("import soups"), "recipes/soup.md": WRONG})
    (tmp_path / "soups.py").write_text(coded + calling, "latin-1")
    assert await checked(tmp_path, {}) == [FOUND]
