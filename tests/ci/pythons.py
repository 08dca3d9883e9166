"""The Pythons that fxtrio runs on, and which of them are on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""Those that fxtrio runs on: one has all tests, the others those of `ON_EACH` of `noxfile.py`."""

THIS_PYTHON = "{}.{}".format(*sys.version_info)


def find_python(version: str) -> str | None:
    """Return a Python of this version that starts: on the PATH, of pyenv, or of uv."""
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv")
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
    name = f"python{version}"

    def candidates() -> Iterator[str | Path]:
        if (found := shutil.which(name)) is not None:
            yield found
        yield from sorted(pyenv.glob(f"versions/{version}*/bin/{name}"), reverse=True)
        yield from sorted(data.glob(f"uv/python/cpython-{version}.*/bin/{name}"), reverse=True)

    code = "import sys, ensurepip, ssl, sqlite3; print('%d.%d' % sys.version_info[:2])"
    for python in candidates():  # a shim of pyenv may stand for nothing
        command = [str(python), "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip() == version:
            return str(python)
    return None


def others_there() -> list[str]:
    """Return the other Pythons that are on this machine, the oldest first."""
    others = (version for version in PYTHONS if version != THIS_PYTHON)
    return [version for version in others if find_python(version) is not None]
