"""What an sdist and a wheel hold: the two packages and the documentation, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
BESIDE = {".gitignore", "CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
NOT_IN_WHEELS = (
    "fxtrio/js/tests/",
    "fxtrio/js/worker/tests/",
    "fxtrio/js/eslint.config.js",
    "fxtrio/js/.prettier",
    "fxtrio/js/tsconfig.json",
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder


def tracked() -> set[str]:
    """Return the files of the packages and of the documentation that belong to the project."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    command = [*listed, "fxtrio", "fx", "docs"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {path for path in done.stdout.splitlines() if (ROOT / path).is_file()}


def test_an_sdist_holds_the_packages_and_what_describes_them(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        found = {name.partition("/")[2] for name in archive.getnames()}
    assert found == tracked() | BESIDE


def test_a_wheel_holds_the_packages_without_their_tests(built: Path) -> None:
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    shipped = {f"fxtrio/{name}" if name.startswith("docs/") else name for name in tracked()}
    assert found == {name for name in shipped if not name.startswith(NOT_IN_WHEELS)}
