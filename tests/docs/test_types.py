"""The types of the documentation's pages, the examples, and new projects have no findings."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner

from fxtrio.cli import main
from fxtrio.cli.typecheck import check_types
from tests.docs.pages import documents, name
from tests.docs.projects import write_all
from tests.docs.test_examples import PROJECTS
from tests.short import amount
from tests.types.everything import SHIPPED


async def problems(root: Path) -> list[str]:
    with trio.fail_after(120):
        checked = await check_types(root, python=False, report=lambda line: None)
    assert checked.files > 0
    return [str(problem) for problem in checked.problems]


@pytest.mark.node
@pytest.mark.parametrize("document", PROJECTS[:: amount(3, long=1)], ids=name)
async def test_nothing_is_reported_about_the_pages_of_a_document(
    document: Path, tmp_path: Path
) -> None:
    write_all(tmp_path, document)

    assert await problems(tmp_path) == []


@pytest.mark.node
@pytest.mark.parametrize("project", SHIPPED, ids=lambda path: path.name)
async def test_the_shipped_projects_have_no_type_errors(project: Path, tmp_path: Path) -> None:
    root = tmp_path / "project"
    shutil.copytree(project, root, ignore=shutil.ignore_patterns(".fx", "__pycache__"))

    assert await problems(root) == []


@pytest.mark.node
async def test_nothing_is_reported_about_a_new_project_in_typescript(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["init", "new", "--typescript", "--tailwind"])

    assert result.exit_code == 0, result.output
    assert await problems(tmp_path / "new") == []


def test_there_are_projects_in_the_documentation() -> None:
    assert 10 < len(PROJECTS) <= len(documents())
