"""Projects in one process that have modules of the same name."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from fx.testing import open_app
from fxtrio.import_path import put_on_path
from tests.trees import page, write_tree

PAGE = """
    from {package} import WORD

    @server
    async def load(request):
        return {{"word": WORD}}
    """


@pytest.fixture(autouse=True)
def imported() -> Iterator[None]:
    """Undo what a test imports."""
    path, modules = list(sys.path), dict(sys.modules)
    yield
    sys.path[:] = path
    for name in [name for name in sys.modules if name not in modules]:
        del sys.modules[name]


async def word_of(root: Path) -> str:
    async with open_app(root) as client:
        word: str = (await client.load_page("/")).data["word"]
    return word


@pytest.mark.parametrize(
    ("file", "package"),
    [
        ("same_word.py", "same_word"),
        ("same_package/__init__.py", "same_package"),
        ("same_folder/words.py", "same_folder.words"),
    ],
)
async def test_each_project_gets_its_own_module(tmp_path: Path, file: str, package: str) -> None:
    roots = [
        write_tree(
            tmp_path / name,
            {file: f"WORD = {name!r}\n", "pages/index.fxl": page(PAGE.format(package=package))},
        )
        for name in ("one", "two", "two/within")
    ]

    words = [await word_of(root) for root in (*roots, *reversed(roots))]

    names = ["one", "two", "two/within"]
    assert words == [*names, *reversed(names)]


def test_a_module_comes_back_as_the_object_that_it_was(tmp_path: Path) -> None:
    one = write_tree(tmp_path / "one", {"same_parts/a.py": "", "same_parts/b.py": ""})
    two = write_tree(tmp_path / "two", {"same_parts/a.py": ""})
    put_on_path(one)
    first, beside = import_module("same_parts.a"), import_module("same_parts.b")
    put_on_path(two)
    second = import_module("same_parts.a")
    package = import_module("same_parts")
    assert (second is first, package.a is second) == (False, True)
    assert import_module("same_parts.b") is beside
    put_on_path(one)

    assert import_module("same_parts.a") is first
    assert package.a is first


def test_a_package_is_set_aside_whole(tmp_path: Path) -> None:
    files = {"same_whole/__init__.py": "", "same_whole/only.py": ""}
    one = write_tree(tmp_path / "one", files)
    two = write_tree(tmp_path / "two", {"same_whole.py": ""})
    put_on_path(one)
    import_module("same_whole.only")
    put_on_path(two)

    with pytest.raises(ModuleNotFoundError, match=r"same_whole\.only"):
        import_module("same_whole.only")
    assert import_module("same_whole").__file__ == str(two / "same_whole.py")


@pytest.mark.parametrize("imported_before", [True, False])
@pytest.mark.parametrize(
    "hiding",
    [
        "same_plain.py",
        "same_plain/__init__.py",
        "same_plain/deep.py",
        "same_plain/deep/__init__.py",
    ],
)
def test_no_module_of_another_project_hides_a_plain_folder(
    tmp_path: Path, hiding: str, imported_before: bool
) -> None:
    one = write_tree(tmp_path / "one", {hiding: "", "test_plain/__init__.py": ""})
    two = write_tree(
        tmp_path / "two", {"same_plain/deep/words.py": "", "test_plain/some/test_it.py": ""}
    )
    name = hiding.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    put_on_path(one)
    if imported_before:
        import_module(name)
    put_on_path(two)

    words = import_module("same_plain.deep.words")
    assert words.__file__ == str(two / "same_plain/deep/words.py")
    assert import_module("test_plain").__file__ == str(one / "test_plain/__init__.py")
    put_on_path(one)
    assert import_module(name).__file__ == str(one / hiding)
    put_on_path(two)
    assert import_module("same_plain.deep.words") is words


def test_what_only_one_project_has_in_a_folder_stays_within_reach(tmp_path: Path) -> None:
    one = write_tree(tmp_path / "one", {"same_part/__init__.py": "", "same_part/only.py": ""})
    two = write_tree(tmp_path / "two", {"same_part/words.py": ""})
    put_on_path(one)
    put_on_path(two)

    assert import_module("same_part.only").__file__ == str(one / "same_part/only.py")
    assert import_module("same_part.words").__file__ == str(two / "same_part/words.py")


def test_tests_and_what_only_one_project_has_stay(tmp_path: Path) -> None:
    one = write_tree(tmp_path / "one", {"same_alone.py": "", "test_same.py": ""})
    two = write_tree(tmp_path / "two", {"test_same.py": ""})
    put_on_path(one)
    stays = [import_module(name) for name in ("same_alone", "test_same")]
    put_on_path(two)

    assert [import_module(name) for name in ("same_alone", "test_same")] == stays


HELD = """
    from fx.runtime import action

    HELD = ["module"]

    @action
    async def post(request):
        HELD.append("called")
        return {}

    def llms_txt(ctx):
        HELD.append("called")
        return "text"
    """
USER = """
    from importlib import import_module

    known = import_module({name!r})

    @server
    async def load(request):
        return {{"held": known.HELD}}
    """


@pytest.mark.parametrize(
    ("file", "method", "url"),
    [
        ("actions/one_copy.py", "POST", "/api/__actions/one_copy.post"),
        ("pages/api/one_copy.py", "POST", "/api/one_copy"),
        ("pages/api/[one-copy].py", "POST", "/api/any"),
        ("pages/llms.py", "GET", "/llms.txt"),
    ],
)
async def test_an_import_by_name_gives_the_module_that_the_app_runs(
    tmp_path: Path, file: str, method: str, url: str
) -> None:
    name = file.removesuffix(".py").replace("/", ".")
    files = {file: HELD, "pages/index.fxl": page(USER.format(name=name))}
    async with open_app(write_tree(tmp_path, files), llms={"enabled": True}) as client:
        assert (await client.request(method, url)).status == 200
        assert (await client.load_page("/")).data == {"held": ["module", "called"]}


async def test_an_endpoint_that_no_name_leads_to_is_there_all_the_same(tmp_path: Path) -> None:
    files = {
        "pages/api/map.xml.py": "def get(request):\n    return {'of': __name__[:8]}\n",
        "pages/api/hidden.py": "def get(request):\n    return {'of': 'below a module'}\n",
        "pages.py": "",
        "pages/index.fxl": page("import pages"),
    }
    async with open_app(write_tree(tmp_path, files)) as client:
        assert (await client.get("/api/map.xml")).json() == {"of": "fxpages_"}
        assert (await client.get("/api/hidden")).json() == {"of": "below a module"}
