"""Imports of a module that fail, as far as files tell. Called by `names`.

No code of the project is run: modules are looked for, and those of the project parsed.
"""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

from fxtrio.compile.bindings import names_of
from fxtrio.compile.statements import Broken, parse_module

_FRAMEWORK = ("fx", "fxtrio")
_FRAMEWORK_ROOT = Path(__file__).parents[2]


def names_of_failing_imports(module: ast.Module, root: Path) -> set[str]:
    """Return the names that imports of ``module`` cannot bind.

    ``root`` is the folder of its project. In doubt an import is taken to succeed.
    """
    names: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names.update(
                alias.asname or alias.name.partition(".")[0]
                for alias in node.names
                if not _is_there(alias.name, root)
            )
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.update(
                alias.asname or alias.name
                for alias in node.names
                if not _is_there(node.module, root) or _lacks(node.module, alias.name, root)
            )
    return names


def _is_there(module: str, root: Path) -> bool:
    """Whether the package or module that ``module`` begins with can be found."""
    first = module.partition(".")[0]
    if (root / f"{first}.py").is_file() or (root / first).is_dir():
        return True
    try:
        return find_spec(first) is not None  # of a first part it imports nothing
    except ValueError:  # a module without a spec, such as __main__
        return True


def _lacks(module: str, name: str, root: Path) -> bool:
    """Whether ``module`` is known not to have ``name``."""
    framework = module.partition(".")[0] in _FRAMEWORK
    path = (_FRAMEWORK_ROOT if framework else root).joinpath(*module.split("."))
    if (path / f"{name}.py").is_file() or (path / name).is_dir():
        return False
    files = (path / "__init__.py", path.with_suffix(".py"))
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        return framework
    try:
        parsed = parse_module(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        return False
    if isinstance(parsed, Broken):
        return False
    bound = names_of(parsed.body).bound
    return name not in bound and not bound & {"*", "__getattr__"}
