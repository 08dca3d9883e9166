"""The language server for Python that is installed, where no other is set."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from typing import Any

_KNOWN = (
    ("basedpyright-langserver", "--stdio"),
    ("pyright-langserver", "--stdio"),
    ("ty", "server"),
)

ADVICE = (
    "Python halves have no completion of Python itself: install pyright or ty beside fxtrio "
    "('pip install ty'), or set the option 'python'."
)


def find_python_server() -> Sequence[str]:
    """Return the command of a server for Python; () when none is installed.

    One of the Python environment that runs this comes before those on the PATH.
    """
    for folder in (sysconfig.get_path("scripts"), None):
        for name, *words in _KNOWN:
            found = shutil.which(name, path=folder)
            if found is not None:
                return (found, *words)
    return ()


def python_environment() -> dict[str, str]:
    """Return the environment of a server: it looks for packages where this Python has them."""
    return {"VIRTUAL_ENV": sys.prefix, **os.environ}


def python_settings(params: dict[str, Any]) -> list[dict[str, str] | None]:
    """Return what a server asks its editor to have set: which Python has the packages."""
    python = {"pythonPath": sys.executable}
    return [python if one.get("section") == "python" else None for one in params.get("items", [])]
