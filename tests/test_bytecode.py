"""What was saved last is what runs, however quickly saves and starts follow each other."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fxtrio.import_path import put_on_path

IMPORT = """
import sys
from pathlib import Path
from fxtrio.import_path import put_on_path

put_on_path(Path(sys.argv[1]))
import package.module
print(package.module.TEXT)
"""


def run(root: Path) -> str:
    """Import the project's module in a process of its own, and return the text it has."""
    environ = {name: value for name, value in os.environ.items() if "BYTECODE" not in name}
    command = [sys.executable, "-c", IMPORT, str(root)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def save(tmp_path: Path) -> Callable[[str, float], None]:
    """Return what saves the module at a time."""
    (tmp_path / "package").mkdir()

    def write(text: str, when: float) -> None:
        module = tmp_path / "package/module.py"
        module.write_text(f"TEXT = {text!r}\n")
        os.utime(module, (when, when))

    return write


def test_a_text_of_the_same_second_and_size_is_another(
    tmp_path: Path, save: Callable[[str, float], None]
) -> None:
    now = time.time()
    save("one", now)
    assert run(tmp_path) == "one"
    save("two", now)
    assert run(tmp_path) == "two"


def test_bytecode_of_files_saved_long_ago_stays(
    tmp_path: Path, save: Callable[[str, float], None]
) -> None:
    save("old", time.time() - 60)
    assert run(tmp_path) == "old"
    assert len([*(tmp_path / "package/__pycache__").iterdir()]) == 1


def test_packages_installed_below_a_project_are_left_to_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "path_hooks", plain := [*sys.path_hooks])
    before = len(plain)
    for root in (tmp_path, tmp_path, tmp_path / "other"):
        put_on_path(root)
    assert sys.path.count(str(tmp_path)) == 1
    assert len(plain) <= before + 1
    hook = plain[0]
    hook(str(tmp_path / "package"))
    for elsewhere in (tmp_path.parent, tmp_path / ".venv/lib/python3/site-packages/a"):
        with pytest.raises(ImportError):
            hook(str(elsewhere))
