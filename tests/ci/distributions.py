"""The wheel and the sdist, each installed in a fresh environment."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nox

from tests.ci.pythons import THIS_PYTHON, find_python, others_there


def check_distributions(session: nox.Session) -> None:
    """Install the wheel on each Python and the sdist on this one, and print their sizes."""
    with TemporaryDirectory(prefix="fxtrio-package-") as folder:
        dist = Path(folder) / "dist"
        session.run("python", "-m", "hatchling", "build", "-d", str(dist), silent=True)
        (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
        for version in (THIS_PYTHON, *others_there()):
            for built in (wheel, sdist) if version == THIS_PYTHON else (wheel,):
                size = _installed(
                    session, version, built, Path(folder) / f"{version}{built.suffix}" / "app"
                )
                session.log(f"Python {version}, {built.name}: {size / 1e6:.0f} MB are installed")


def _installed(session: nox.Session, version: str, built: Path, project: Path) -> int:
    """Install a distribution, and make and build a project with it; return the size (bytes).

    The project contains the environment, as most do.
    """
    python = find_python(version) or sys.executable
    environment = project / ".venv"
    inner = str(environment / "bin" / "python")
    if shutil.which("uv"):
        session.run("uv", "venv", "-q", "-p", python, str(environment), external=True)
        install = ("uv", "pip", "install", "-q", "--python", inner)
    else:
        session.run(python, "-m", "venv", str(environment), external=True)
        install = (inner, "-m", "pip", "--disable-pip-version-check", "install", "-q")
    session.run(*install, str(built), external=True)
    command = str(environment / "bin" / "fx")
    session.run(command, "init", str(project), external=True, silent=True)
    session.run(command, "build", "--root", str(project), external=True, silent=True)
    files = environment.rglob("*")
    return sum(file.lstat().st_size for file in files if not file.is_symlink() and file.is_file())
