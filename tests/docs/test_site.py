"""The project of the documentation site, as `docs/site/build.py` writes it."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest

from fxtrio.compile.project import check_project
from fxtrio.config import load_config
from tests.docs.pages import DOCS, anchors, documents

BUILD = DOCS / "site" / "build.py"

_REPEATED = re.compile(r"\A# .*\n|^#+ .*, (?:continued|part \d+)\n\n", re.MULTILINE)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "project"
    sys.path.insert(0, str(BUILD.parent))
    try:
        runpy.run_path(str(BUILD))["prepare"](folder)
    finally:
        sys.path.remove(str(BUILD.parent))
        for name in ("api", "build", "split", "versions"):
            sys.modules.pop(name, None)
    return folder


def test_the_project_has_no_problem(project: Path) -> None:
    """Links between pages, images and front matter are checked as in every project."""
    assert check_project(project, load_config(project, environ={})).problems == ()


def test_each_file_of_the_documentation_is_a_page(project: Path) -> None:
    written = project / "pages" / "docs"
    pages = {path.relative_to(written) for path in written.rglob("*.md")}
    files = {path.relative_to(DOCS) for path in documents() if DOCS in path.parents}

    assert files <= pages


def test_documents_are_split_without_a_loss() -> None:
    """A part repeats the title and may repeat a heading; the rest is there once, in order."""
    splitter = runpy.run_path(str(BUILD.with_name("split.py")))
    for document in sorted(DOCS.rglob("*.md")):
        text = document.read_text("utf-8")
        parts = splitter["split"](text, 900)
        body = "".join(_REPEATED.sub("", part.text) for part in parts)
        ids = [anchor for part in parts for anchor in part.anchors]

        assert _lines(body) == _lines(text.partition("\n")[2]), document
        assert len({part.slug for part in parts}) == len(parts), document
        for part in parts:
            assert len(re.findall(r"^```", part.text, re.MULTILINE)) % 2 == 0, document
            for name in ("div", "details"):
                assert part.text.count(f"\n<{name}") == part.text.count(f"\n</{name}>"), document
        assert anchors(document) <= {*ids, splitter["anchor"](text.partition("\n")[0][2:])}


def _lines(text: str) -> list[str]:
    """Return lines of text, but not those at which blocks of code are cut."""
    return [line for line in text.splitlines() if not re.fullmatch(r"-{5,}|```text|```|", line)]


def test_the_navigation_leads_to_pages_and_has_each_guide(project: Path) -> None:
    module = (project / "navigation.js").read_text("utf-8")
    groups = json.loads(module.removeprefix("export const groups = ").rstrip(";\n"))
    urls = [page["url"] for group in groups for page in group["pages"]]

    assert len(urls) == len(set(urls))
    assert all(
        (project / f"pages{url}.md").is_file() or (project / f"pages{url}/index.md").is_file()
        for url in urls
    )
    guides = {f"/docs/guides/{file.stem}" for file in DOCS.glob("guides/*.md")}
    assert guides <= set(urls)


def test_each_public_name_is_in_the_reference(project: Path) -> None:
    text = (project / "pages/docs/modules/tasks.md").read_text("utf-8")
    modules = project / "pages/docs/modules"
    tests = "".join(file.read_text("utf-8") for file in modules.rglob("testing/*.md"))

    assert "## open_app\n\n```python\ndef open_app(\n    root: str | Path,\n" in tests
    assert "## enqueue\n\n```python\ndef enqueue(\n    func: Callable[P, object],\n" in text
    assert not re.search(r"``", text.replace("```", ""))


def test_folders_of_other_versions_survive_a_build(tmp_path: Path) -> None:
    versions = runpy.run_path(str(BUILD.with_name("versions.py")))
    older = tmp_path / "out" / "0.0"
    older.mkdir(parents=True)
    (older / ".fx-export").touch()
    with versions["others_restored"](tmp_path / "out", ["9.0", "0.0"]):
        shutil.rmtree(tmp_path / "out")
        (tmp_path / "out").mkdir()

    assert (older / ".fx-export").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_newest_version_is_at_the_root_and_others_beside_it() -> None:
    versions = runpy.run_path(str(BUILD.with_name("versions.py")))
    listed = versions["listed"](["9.0", versions["OWN"]], "https://example.com/docs")

    assert [version.url for version in listed] == [
        "https://example.com/docs/",
        f"https://example.com/docs/{versions['OWN']}/",
    ]
    with pytest.raises(SystemExit, match="is not among them"):
        versions["listed"](["9.0"], "https://example.com")
