"""What every release has."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner

from fxtrio.cli import main
from tests.contract.projects import open_pages, problems_of
from tests.contract.rules import REPOSITORY, rule

RAISES = """
    @action
    async def act(request):
        raise {error}
"""


async def _raise(root: Path, error: str) -> tuple[int, dict[str, list[str]]]:
    text = RAISES.format(error=error)
    assert problems_of(root, text) == []
    async with open_pages(root, text) as client:
        result = await client.action("/", "act")
    return result.status, result.fields


@rule("versioning.1")
async def test_versioning_1_action_error_needs_no_import(tmp_path: Path) -> None:
    assert await _raise(tmp_path, 'ActionError("no", 418)') == (418, {})


@rule("versioning.2")
async def test_versioning_2_validation_action_error_needs_no_import(tmp_path: Path) -> None:
    fields = {"a": ["b"]}
    assert await _raise(tmp_path, f"ValidationActionError(fields={fields})") == (422, fields)


@rule("versioning.1", "versioning.2")
@pytest.mark.parametrize("name", ["ActionError", "ValidationActionError"])
def test_versioning_1_neither_is_there_without_an_action(tmp_path: Path, name: str) -> None:
    (problem,) = problems_of(tmp_path, f"async def websocket(ws):\n    raise {name}")
    assert f"undefined name {name!r}" in problem


@rule("versioning.3")
def test_versioning_3_the_package_has_one_version_and_a_changelog() -> None:
    output = CliRunner().invoke(main, ["--version"]).output
    assert version("fxtrio") in output
    changelog = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = [line for line in changelog.splitlines() if line.startswith("## ")]
    assert headings[0] == "## Unreleased" or version("fxtrio") in headings[0]
