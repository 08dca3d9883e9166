"""The code of the documentation runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from collections.abc import Iterator
from pathlib import Path, PurePath

import pytest
import trio

from fxtrio.cli.check import check
from fxtrio.cli.init import starter
from fxtrio.compile.check import ui_code
from fxtrio.compile.project import check_project
from fxtrio.config import load_config
from fxtrio.routes.scan import scan
from fxtrio.testing import open_app
from tests.docs.pages import Block, blocks, documents, name
from tests.docs.projects import write, write_all
from tests.docs.ui_checks import UiChecks, ui_checks
from tests.short import LONG, amount

PROJECTS = [
    document
    for document in documents()
    if any(block.file.endswith(".fxl") for block in blocks(document))
]

PLUGINS = ("-p", "pytest_trio.plugin")
"""Without those that only our own tests need, most of which take long to import."""

FAILING = "simulation"
"""The page whose first test shows what a failure looks like."""


def is_test(block: Block) -> bool:
    return PurePath(block.file).name.startswith("test_")


@pytest.mark.parametrize("document", PROJECTS, ids=name)
def test_every_step_of_a_page_is_a_project_without_problems(document: Path, tmp_path: Path) -> None:
    for block in blocks(document):
        if block.file:
            write(tmp_path, block)
            if block.file.endswith(".fxl"):
                found = check_project(tmp_path, load_config(tmp_path, environ={})).problems
                # A document may begin with a layout.
                problems = [str(one) for one in found if "there are no pages" not in one.message]
                assert problems == [], f"line {block.line}"


@pytest.fixture(scope="module")
def checks() -> Iterator[UiChecks]:
    with ui_checks() as running:
        yield running


@pytest.mark.node
@pytest.mark.parametrize("document", PROJECTS, ids=name)
async def test_fx_check_finds_no_mistake_in_a_page(
    document: Path, tmp_path: Path, checks: UiChecks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ui_code, "ui_problems", checks.problems)
    write_all(tmp_path, document)
    with trio.fail_after(120):
        found = await check(tmp_path, app="", imports=False, report=lambda line: None)

    assert [str(problem) for problem in found.problems] == []


@pytest.mark.node
@pytest.mark.parametrize("document", PROJECTS[1 - LONG :: amount(3, long=1)], ids=name)
async def test_the_pages_of_a_project_render(document: Path, tmp_path: Path) -> None:
    write_all(tmp_path, document)
    pages = scan(tmp_path, load_config(tmp_path, environ={})).pages
    paths = [page.pattern for page in pages if "[" not in page.pattern]
    with trio.fail_after(120):
        async with open_app(tmp_path, render=True) as client:
            statuses = {path: (await client.get(path)).status for path in paths}

    assert set(statuses.values()) <= {200, 303}, statuses


@pytest.mark.parametrize(
    "document",
    [page for page in PROJECTS if page.stem != FAILING and any(map(is_test, blocks(page)))],
    ids=name,
)
def test_the_tests_of_a_page_pass(document: Path, tmp_path: Path) -> None:
    write_all(tmp_path, document)
    (tmp_path / "pytest.ini").write_bytes(starter("shop")["pytest.ini"])

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *PLUGINS, str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


@pytest.mark.parametrize("document", documents(), ids=name)
def test_python_and_json_fragments_are_well_formed(document: Path) -> None:
    for block in blocks(document):
        if block.language == "python":
            compile(
                block.text, name(document), "exec", PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
            )
        elif block.language == "json":
            json.loads(block.text)


@pytest.mark.parametrize("document", documents(), ids=name)
def test_settings_in_the_docs_exist(document: Path, tmp_path: Path) -> None:
    for block in blocks(document):
        if block.language == "json" and block.file in ("", "fx.config.json"):
            (tmp_path / "fx.config.json").write_text(block.text)
            load_config(tmp_path, environ={})
