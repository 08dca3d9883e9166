"""Which command runs what of a repository: the files of this one leave marks.

The table is that of docs/security.md; what is not in it, runs nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fxtrio.cli.group import COMMANDS
from tests.cli.hostile_repository import MODULES, HostileRepository

pytestmark = pytest.mark.own_interpreter

FX = str(Path(sys.executable).with_name("fx"))
TRUST = Path(__file__).parents[2] / "docs" / "security.md"

NOTHING = [
    (FX, "check", "--static"),
    (FX, "check", "--static", "--json"),
    (sys.executable, "-P", "-m", "fxtrio", "check", "--static"),
    (FX, "routes"),
    (FX, "config"),
    (FX, "secret"),
    (FX, "from-pyxle", "--json"),
    (FX, "from-next", "--json"),
    (FX, "version"),
    (FX, "init", "."),
]
"""Commands that run nothing of the repository they are started in."""


@pytest.fixture
def hostile(tmp_path: Path) -> HostileRepository:
    return HostileRepository(tmp_path)


def run(command: tuple[str, ...], root: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "FX_NAME"}
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=120
    )


@pytest.mark.node
@pytest.mark.parametrize("command", NOTHING, ids=lambda one: " ".join(one[1:]))
def test_a_command_that_runs_nothing_of_a_repository_leaves_no_mark(
    hostile: HostileRepository, command: tuple[str, ...]
) -> None:
    done = run(command, hostile.root)
    assert "Traceback" not in done.stderr
    assert hostile.left() == set(), done.stderr


@pytest.mark.node
def test_the_module_started_without_isolation_runs_what_python_itself_imports_and_no_more(
    hostile: HostileRepository,
) -> None:
    """Python imports some of its own modules before ours can put the folder away."""
    (hostile.root / "contextlib.py").unlink()
    run((sys.executable, "-m", "fxtrio", "check", "--static"), hostile.root)
    assert hostile.left() == set()


def test_a_command_that_imports_a_project_runs_its_python(hostile: HostileRepository) -> None:
    for name in MODULES:  # which would keep it from being imported
        (hostile.root / f"{name}.py").unlink()
    run((FX, "check"), hostile.root)
    assert {"page", "plugin", "app", "endpoint"} <= hostile.left()


def test_the_trust_model_has_a_line_for_every_command() -> None:
    text = TRUST.read_text("utf-8")
    rows = "".join(line.split("|")[1] for line in text.splitlines() if line.startswith("| `fx "))
    assert [name for name in COMMANDS if f"`fx {name}" not in rows] == []
