"""Which jobs are those of a project."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from fx.jobs import job
from fxtrio.jobs.discovery import find_jobs


@job()
async def remind() -> None:
    """Do nothing."""


@pytest.mark.parametrize(
    ("file", "found"),
    [
        ("shop/reports.py", True),
        ("shop/lib/./reports.py", True),
        ("shop/.venv/lib/python3.11/site-packages/reports.py", False),
        ("shop/node_modules/tool/reports.py", False),
        ("shop-2/reports.py", False),
        ("other/shop/reports.py", False),
    ],
)
def test_jobs_of_the_project_are_found_and_those_of_packages_and_others_are_not(
    file: str, found: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("reports")
    module.__file__ = f"{tmp_path}/{file}"
    vars(module)["remind"] = remind
    monkeypatch.setitem(sys.modules, "reports", module)
    assert bool(find_jobs(tmp_path / "shop")) is found


def test_modules_whose_file_is_no_text_are_of_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("odd")
    vars(module)["__file__"] = object()  # as of modules that are imported when they are used
    monkeypatch.setitem(sys.modules, "odd", module)
    assert find_jobs(tmp_path) == {}
