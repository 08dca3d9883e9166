"""No link of a repository leads what is written into its `.fx` to another place."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fxtrio.atomic_write import write_whole
from fxtrio.build_folder import LinkInTheWay, require_no_link
from fxtrio.compile.build import build_project
from fxtrio.compile.bundling.editor_types import CLIENT_TYPES, write_client_types
from fxtrio.config import Config
from fxtrio.manifest import FOLDERS
from fxtrio.secret_key import project_key
from fxtrio.tools.types.gather.page_types import ProjectTypes
from fxtrio.tools.types.ui.compiler_settings import build_info
from fxtrio.tools.types.ui.virtual_project import FOLDER, TypesFolder
from tests.trees import write_tree

LINKS = [".fx", ".fx/types", ".fx/types/client.d.ts", ".fx/types/loose", ".fx/build", ".fx/dev"]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder, and a file, that a repository has no business with."""
    folder = tmp_path / "elsewhere"
    write_tree(folder, {"types/client.d.ts": "mine", "client.d.ts": "mine", "sentinel": "mine"})
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    page = "export default () => <p>hello</p>;\n"
    write_tree(
        root, {"pages/index.fxl": page, "tsconfig.json": f'{{"include": ["{CLIENT_TYPES}"]}}'}
    )
    return root


def link(root: Path, name: str, elsewhere: Path) -> None:
    place = root / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(elsewhere / "sentinel" if place.suffix else elsewhere)


def left_in(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("name", LINKS[:3])
def test_a_static_check_writes_through_no_link(root: Path, elsewhere: Path, name: str) -> None:
    link(root, name, elsewhere)
    before = left_in(elsewhere)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "fxtrio", "check", "--static"],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert left_in(elsewhere) == before
    assert done.returncode == 1
    assert f"{name}: is a symbolic link" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", LINKS)
async def test_whatever_writes_into_the_folder_rejects_links(
    root: Path, elsewhere: Path, name: str
) -> None:
    link(root, name, elsewhere)
    before = left_in(elsewhere)
    types = TypesFolder(root, root)
    writers = {
        ".fx": lambda: project_key(root),
        ".fx/types": lambda: types.write_facts(ProjectTypes()),
        ".fx/types/client.d.ts": lambda: write_client_types(root),
        ".fx/types/loose": lambda: types.write_tier("loose", [], ProjectTypes()),
    }
    if name in writers:
        with pytest.raises(LinkInTheWay, match="symbolic link"):
            writers[name]()
    if name == ".fx/build":
        with pytest.raises(LinkInTheWay):
            await build_project(root, Config(), report=print, mode="production")
    with pytest.raises(LinkInTheWay):
        require_no_link(root, FOLDERS["development"] if name == ".fx/dev" else name)
    assert left_in(elsewhere) == before


def test_a_link_in_the_place_of_what_typescript_writes_is_rejected(
    root: Path, elsewhere: Path
) -> None:
    place = root / FOLDER / "loose"
    place.mkdir(parents=True)
    name = build_info(root)
    (place / name).symlink_to(elsewhere / "sentinel")
    with pytest.raises(LinkInTheWay, match=re.escape(name)):
        TypesFolder(root, root).write_tier("loose", [], ProjectTypes())


def test_a_link_that_waits_under_a_temporary_name_is_not_written_through(
    tmp_path: Path, elsewhere: Path
) -> None:
    (tmp_path / f".file.{os.getpid()}.part").symlink_to(elsewhere / "sentinel")
    assert write_whole(tmp_path / "file", b"ours")
    assert (elsewhere / "sentinel").read_text() == "mine"
    assert (tmp_path / "file").read_text() == "ours"


def test_a_project_may_itself_be_reached_by_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "current").symlink_to(root)
    write_client_types(tmp_path / "current")
    assert (root / CLIENT_TYPES).exists()
