"""A build with all that it needs: which files, and what is missing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fxtrio.compile.build import compile_server
from fxtrio.config import Config, load_config
from fxtrio.config.section import is_section, settings_of
from fxtrio.standalone.imported import follow_imports
from fxtrio.standalone.packages import needed_packages
from fxtrio.standalone.write import Standalone, StandaloneFailed, modules_of, write_standalone
from tests.trees import PAGE, write_tree

FILES = {
    "app.py": "from fxtrio import create_app\n",
    "hooks.py": "import shop.rules\n\nasync def look(request):\n    pass\n",
    "shop/__init__.py": "",
    "shop/rules.py": "from . import prices\nfrom .names import NAME\n",
    "shop/names.py": "import json\nimport msgspec\nNAME = 'a'\n",
    "shop/prices.py": "",
    "shop/unused.py": "",
    "plugins.py": "NAMES = ['shop.unused']\n",
    "public/icon.svg": "<svg/>",
    "pages/index.fxl": f"from shop.names import NAME\n\n{PAGE}",
    "pages/api/feed.py": "import shop\n\nasync def get(request):\n    return {}\n",
}


@pytest.fixture(autouse=True)
def few_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    # All extras of this environment take seconds to copy and to compile.
    monkeypatch.setattr("fxtrio.standalone.packages._OF_SERVERS", ("pydantic",))


@pytest.fixture
def app_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let only the folder of the app be written: its packages are as much work as all the rest."""
    monkeypatch.setattr("fxtrio.standalone.write.needed_packages", lambda *_, **__: [])
    monkeypatch.setattr("fxtrio.standalone.write._check", lambda folder: None)


def write(
    root: Path, files: dict[str, str], *include: str, settings: dict[str, Any] | None = None
) -> Standalone:
    write_tree(root, files)
    config = load_config(root, **(settings or {"route_middleware": {"pages": ["hooks:look"]}}))
    build = root / ".fx" / "build"
    build.mkdir(parents=True, exist_ok=True)
    manifest = compile_server(root, config, build, mode="production")
    return write_standalone(root, config, manifest, root.parent / "out", include=include)


def test_imports_are_followed_within_the_project_and_no_further(tmp_path: Path) -> None:
    write_tree(tmp_path, FILES)

    found = follow_imports(tmp_path, [tmp_path / "app.py"], ["hooks.look", "missing.module"])

    names = sorted(file.relative_to(tmp_path).as_posix() for file in found.files)
    assert names == [
        *("app.py", "hooks.py", "shop/__init__.py", "shop/names.py", "shop/prices.py"),
        "shop/rules.py",
    ]
    assert found.packages == {"fxtrio", "msgspec", "missing"}


def dotted_settings(section: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of each setting whose validator asks for dotted names."""
    for name, field in settings_of(section).items():
        if is_section(field.type):
            yield from dotted_settings(field.type, (*path, name))
        elif field.validator is not None and "dotted" in getattr(field.validator, "__name__", ""):
            yield (*path, name)


def test_each_module_that_a_setting_names_is_copied(tmp_path: Path) -> None:
    text = "class Used:\n    def __init__(self, *_): ...\n\ndef used(*_): ...\n"
    settings: dict[str, Any] = {}
    modules = []
    for path in dotted_settings(Config):
        modules.append("_".join(path))
        *above, last = path
        section = settings
        for name in above:
            section = section.setdefault(name, {})
        named = f"{modules[-1]}:used"
        is_list = path[0] in ("middleware", "route_middleware")
        section[last] = [named] if is_list else named
    plugin = {"name": "auth", "settings": {"sendEmail": "mail.sending:used"}}
    settings["plugins"] = [plugin, "own_plugin:Used"]
    write_tree(tmp_path, {f"{one}.py": text for one in [*modules, "own_plugin", "mail/sending"]})

    config = load_config(tmp_path, **settings)
    found = follow_imports(tmp_path, [], modules_of(config))

    names = {file.relative_to(tmp_path).as_posix() for file in found.files}
    assert {"translate", "observability_errors", "observability_metrics_guard"} <= {*modules}
    assert names == {f"{one}.py" for one in [*modules, "own_plugin", "mail/sending"]}


@pytest.mark.usefixtures("app_alone")
def test_the_module_that_translates_is_in_the_folder(tmp_path: Path) -> None:
    lang = "def translate(request, message):\n    return message\n"

    written = write(
        tmp_path / "app",
        {"lang.py": lang, "pages/index.fxl": PAGE},
        settings={"translate": "lang:translate"},
    )

    assert "lang.py" in written.files and (tmp_path / "out/app/lang.py").is_file()


def test_packages_come_with_what_they_require() -> None:
    names = {package.name.lower() for package in needed_packages(["httpx"])}

    assert {"fxtrio", "trio", "starlette", "httpx", "httpcore", "h11"} <= names
    assert "pytest" not in names


def test_the_folder_runs_the_app_without_any_other_package(tmp_path: Path) -> None:
    written = write(tmp_path / "app", FILES, "plugins.py")
    folder = tmp_path / "out"

    assert "shop/rules.py" in written.files and "shop/unused.py" not in written.files
    assert (folder / "app/public/icon.svg").is_file() and (folder / "app/plugins.py").is_file()
    assert not (folder / "app/shop/unused.py").exists()
    assert "trio==" in (folder / "requirements.lock").read_text()
    run = [sys.executable, "-S", str(folder / "run.py"), "--version"]
    done = subprocess.run(run, capture_output=True, text=True, env={}, check=True)
    assert done.stdout.startswith("fx, version")


@pytest.mark.usefixtures("app_alone")
def test_the_files_of_collections_are_in_the_folder(tmp_path: Path) -> None:
    reading = """
        FOLDER = "recipes"

        async def recipes():
            from fx import content
            from fx.content import load as read
            return await content.load(FOLDER), await read("guides/en", url="/{slug}")
    """
    files = {
        "shop/prices.py": reading,
        "recipes/soup.md": "# Soup\n",
        "recipes/2024/_draft.md": "# Draft\n",
        "guides/en/first.md": '~~~python file="examples/load.py"\n~~~\n',
        "guides/fr/premier.md": "# Premier\n",
        "examples/load.py": "pass\n",
    }

    write(tmp_path / "app", {**FILES, **files})

    app = tmp_path / "out" / "app"
    assert (app / "recipes/soup.md").is_file() and (app / "guides/en/first.md").is_file()
    assert (app / "examples/load.py").is_file()
    assert not (app / "guides/fr").exists()


@pytest.mark.usefixtures("app_alone")
def test_only_calls_of_load_name_collections(tmp_path: Path) -> None:
    reading = f"""
        import json
        from fx import content
        import fx.content as articles

        def show(): print({"long" * 90!r}, "\\0"); json.load("guides")
        def repeat(): print("\\0"); print("guides")
        async def posts(): return await articles.load("posts"), await content.load({"x" * 300!r})
        async def nothing(): return await content.load("\\0")
    """
    files = {
        "shop/prices.py": reading,
        "guides/first.md": "# First\n",
        "posts/new.md/notes.txt": "a folder\n",
        "posts/one.md": f'~~~python file="{"y" * 300}"\n~~~\n',
    }

    write(tmp_path / "app", {**FILES, **files})

    app = tmp_path / "out" / "app"
    assert (app / "posts/one.md").is_file()
    assert not (app / "guides").exists()


@pytest.mark.usefixtures("app_alone")
@pytest.mark.parametrize("name", ["../secret.py", "examples/link.py"])
def test_collections_include_no_file_from_outside(tmp_path: Path, name: str) -> None:
    reading = "async def posts():\n    from fx import content\n    await content.load('posts')\n"
    (tmp_path / "secret.py").write_text("SECRET = 1\n")
    (tmp_path / "app/examples").mkdir(parents=True)
    (tmp_path / "app/examples/link.py").symlink_to(tmp_path / "secret.py")
    including = f'```python file="{name}"\n```\n'

    write(tmp_path / "app", {**FILES, "shop/prices.py": reading, "posts/one.md": including})

    out = tmp_path / "out"
    assert (out / "app/posts/one.md").is_file()
    assert not (out / "secret.py").exists() and not (out / "app/examples").exists()


@pytest.mark.usefixtures("app_alone")
def test_a_block_that_documents_blocks_includes_nothing(tmp_path: Path) -> None:
    reading = "async def posts():\n    from fx import content\n    await content.load('posts')\n"
    inner = '```python file="examples/load.py"\n```\n'
    files = {"posts/one.md": f"````md\n{inner}````\n", "examples/load.py": "pass\n"}

    write(tmp_path / "app", {**FILES, "shop/prices.py": reading, **files})

    assert (tmp_path / "out/app/posts/one.md").is_file()
    assert not (tmp_path / "out/app/examples").exists()


def test_a_file_that_is_missing_is_found_and_the_folder_stays(tmp_path: Path) -> None:
    importing = f"import importlib\nimportlib.import_module('shop.unused')\n\n{PAGE}"
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / ".fx-standalone").touch()

    with pytest.raises(StandaloneFailed, match=r"pages/index\.fxl.*No module named 'shop\.unused'"):
        write(tmp_path / "app", {**FILES, "pages/index.fxl": importing})

    assert [path.name for path in folder.iterdir()] == [".fx-standalone"]


@pytest.mark.parametrize(
    ("pattern", "cause"),
    [
        ("data/*.csv", "matches no file"),
        ("../*.csv", "is outside of the project"),
        ("/etc/*.csv", "is outside of the project"),
        ("", "matches no file"),
    ],
)
def test_included_files_are_of_the_project(tmp_path: Path, pattern: str, cause: str) -> None:
    with pytest.raises(StandaloneFailed, match=f"^--include: .*{cause}"):
        write(tmp_path / "app", FILES, pattern)

    assert not (tmp_path / "out").exists()


def test_other_folders_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").touch()

    with pytest.raises(StandaloneFailed, match="contains files that"):
        write(tmp_path / "app", FILES)
