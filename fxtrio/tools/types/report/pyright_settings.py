"""Settings with which pyright looks at virtual modules: those of the project, and their place.

Pyright passes over what is in hidden folders, even when it is named, unless its settings say
what to exclude.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

OWN = "pyrightconfig.json"

_PATHS = ("extraPaths", "stubPath", "typeshedPath", "venvPath")
_FILES = frozenset({"include", "exclude", "ignore", "strict", "executionEnvironments"})
"""What speaks of the project's files, and would pass over virtual ones."""


def pyright_settings(
    root: Path, table: Mapping[str, Any], modules: Iterable[Path]
) -> dict[str, Any]:
    """Return the settings for ``modules``, all paths absolute.

    ``table`` is ``[tool.pyright]``, which counts when there is no `pyrightconfig.json`.
    """
    if (root / OWN).is_file():
        found: dict[str, Any] = {"extends": (root / OWN).as_posix()}
    else:
        found = {key: value for key, value in table.items() if key not in _FILES}
        for key in _PATHS:
            if key in found:
                found[key] = _absolute(root, found[key])
    return {
        **found,
        "include": [path.as_posix() for path in modules],
        "exclude": [],
        "ignore": [],
        "executionEnvironments": [{"root": root.as_posix()}],
    }


def _absolute(root: Path, paths: Any) -> Any:
    if isinstance(paths, list):
        return [_absolute(root, path) for path in paths]
    return (root / str(paths)).as_posix()
