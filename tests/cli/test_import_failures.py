"""Commands that import the project print its errors with file, line and remedy: no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fxtrio.cli import main
from fxtrio.compile.build import compile_server
from fxtrio.config import load_config
from tests.trees import page, write_tree

CORRECT = "Fix this line: the app cannot start while it fails."


def work(root: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Result:
    """Build ``files`` without bundles, and start the jobs, for which all of it is imported."""
    write_tree(root, {"fx.config.json": '{"database": {"url": "sqlite:///app.db"}}', **files})
    build = root / ".fx" / "build"
    build.mkdir(parents=True)
    compile_server(root, load_config(root), build, mode="production")
    monkeypatch.chdir(root)
    return CliRunner().invoke(main, ["jobs", "work"])


FAILING = {
    "a page": (
        {"pages/index.fxl": page("x = 1\nimport nosuch")},
        "pages/index.fxl:2: importing it fails: there is no module 'nosuch'. Install it, or "
        "correct its name.",
    ),
    "an endpoint": (
        {"pages/api/users.py": "{}['key']\n"},
        f"pages/api/users.py:1: importing it fails: KeyError: 'key'. {CORRECT}",
    ),
    "a module": (
        {"pages/index.fxl": page("import helper"), "helper.py": "x = 1\nx.y\n"},
        "helper.py:2: importing it fails: AttributeError: 'int' object has no attribute 'y'. "
        + CORRECT,
    ),
    "a module that is no Python": (
        {"pages/index.fxl": page("import helper"), "helper.py": "x = 1\ny = = 2\n"},
        f"helper.py:2: importing it fails: SyntaxError: invalid syntax. {CORRECT}",
    ),
    "the environment": (
        {"pages/index.fxl": page("import os\nURL = os.environ['NO_SUCH_URL']")},
        "pages/index.fxl:2: importing it fails: the environment variable 'NO_SUCH_URL' is not "
        "set. Set it for commands of fx, too.",
    ),
    "an end of the process": (
        {"pages/index.fxl": page("import sys\nsys.exit(0)")},
        "pages/index.fxl:2: importing it fails: it exits the process with 0. Do not exit the "
        "process on import.",
    ),
}


@pytest.mark.parametrize("kind", FAILING)
def test_the_place_the_cause_and_the_remedy_are_printed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, message = FAILING[kind]
    result = work(tmp_path, files, monkeypatch)
    assert result.exit_code == 1
    assert result.output == f"error {message}\nSee 'fx docs ImportFailed'.\n"


def test_a_defect_keeps_its_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path, **overrides: object) -> object:
        raise LookupError("a defect")

    monkeypatch.setattr("fxtrio.cli.jobs.worker.load_config", fail)
    result = work(tmp_path, {"pages/index.fxl": page("x = 1")}, monkeypatch)
    assert isinstance(result.exception, LookupError)
