"""The folder where other frameworks and copies of the apps are kept between runs.

Nothing is installed twice: what a folder was made from is written into it last.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

APPS = Path(__file__).parent / "apps"
CACHE = Path(__file__).parent / ".cache"

INSTALL_TIMEOUT = 600  # seconds; a slow network, not a hanging one


class InstallFailed(Exception):
    """A peer could not be installed; the message has what the installer said."""


def app_folder(name: str) -> Path:
    """Return the folder of the working copy of ``apps/<name>``."""
    return CACHE / name / "app"


def copy_app(name: str) -> Path:
    """Bring the working copy of an app up to date, and leave what was installed in it."""
    folder = app_folder(name)
    shutil.copytree(APPS / name, folder, dirs_exist_ok=True)
    return folder


def venv_python(name: str) -> Path:
    """Return the interpreter that `install_python` makes."""
    return CACHE / name / "venv" / "bin" / "python"


def install_python(name: str) -> None:
    """Make a virtual environment with ``apps/<name>/requirements.txt``."""
    requirements = APPS / name / "requirements.txt"
    python = venv_python(name)
    folder = python.parent.parent

    def make() -> None:
        _run([sys.executable, "-m", "venv", "--clear", str(folder)], CACHE)
        _run([str(python), "-m", "pip", "install", "-q", "-r", str(requirements)], CACHE)

    _once(folder / ".made-from", (requirements,), make)


def python_version(name: str, package: str) -> str:
    """Return the version of a package in ``apps/<name>/requirements.txt``."""
    lines = (APPS / name / "requirements.txt").read_text().splitlines()
    (version,) = (line.partition("==")[2] for line in lines if line.startswith(f"{package}=="))
    return version


def install_node(name: str) -> None:
    """Install ``apps/<name>/package-lock.json`` into the working copy of the app."""
    folder = copy_app(name)
    locks = (folder / "package.json", folder / "package-lock.json")
    _once(
        folder / "node_modules" / ".made-from",
        locks,
        # Not `npm ci`: it refuses a lock that lacks packages for other platforms.
        lambda: _run(["npm", "install", "--no-save", "--no-audit", "--no-fund"], folder),
    )


def production_node() -> Path:
    """Return a folder with a ``node`` that always runs with NODE_ENV=production.

    It goes first on the PATH of a server that hides the variable from its workers.
    """
    real = shutil.which("node")
    if real is None:
        raise InstallFailed("node: not found on the PATH.")
    script = CACHE / "production" / "node"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(f'#!/bin/sh\nNODE_ENV=production exec {real} "$@"\n')
    script.chmod(0o755)
    return script.parent


def _once(stamp: Path, sources: Iterable[Path], make: Callable[[], object]) -> None:
    text = b"\0".join(source.read_bytes() for source in sources)
    wanted = hashlib.sha256(sys.version.encode() + text).hexdigest()
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    make()
    stamp.write_text(wanted)


def _run(command: list[str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    try:
        run = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "NEXT_TELEMETRY_DISABLED": "1"},
            capture_output=True,
            text=True,
            timeout=INSTALL_TIMEOUT,
        )
    except FileNotFoundError:
        raise InstallFailed(f"{command[0]}: not found on the PATH.") from None
    except subprocess.TimeoutExpired:
        raise InstallFailed(f"{command[0]}: did not end within {INSTALL_TIMEOUT} s.") from None
    if run.returncode:
        said = (run.stderr or run.stdout).strip()[:2000]
        raise InstallFailed(f"{' '.join(command)}: failed.\n{said}")
