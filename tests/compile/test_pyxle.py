"""Names of Pyxle and packages of extras lead to what is written and installed here."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import metadata
from pathlib import Path

import pytest

from fxtrio.cli.import_check.importer import explain
from fxtrio.compile.bundling.extras import EXTRAS
from fxtrio.compile.check.pyxle_migration import NAMES, remedy_for
from fxtrio.config.pyxle import PLUGINS, SETTINGS


@pytest.mark.parametrize("name", NAMES)
def test_the_suggested_replacements_exist(name: str) -> None:
    assert remedy_for(name)
    if found := re.fullmatch(r"from (\S+) import (\w+)", NAMES[name]):
        assert hasattr(import_module(found[1]), found[2])


def test_packages_of_extras_are_installed_with_them() -> None:
    assert set(EXTRAS.values()) <= set(metadata("fxtrio").get_all("Provides-Extra") or ())
    missing = ModuleNotFoundError("no", name="pydantic.fields")
    assert explain(missing) == (
        "there is no module 'pydantic.fields'",
        "Run \"pip install 'fxtrio[pydantic]'\"",
    )


def test_a_module_of_pyxle_that_another_module_imports_is_known() -> None:
    missing = ModuleNotFoundError("no", name="pyxle.tasks")
    assert explain(missing)[1] == "Write 'from fx.tasks import …'"


def test_the_guide_lists_every_name() -> None:
    guide = (Path(__file__).parents[2] / "docs/guides/from-pyxle.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`([A-Za-z_.-]+)`", guide))
    assert set(NAMES) | set(SETTINGS) | set(PLUGINS) <= listed
