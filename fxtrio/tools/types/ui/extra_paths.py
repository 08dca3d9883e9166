"""Paths that an app answers besides its pages: public files, and routes of its own code.

Nothing is imported: what looks like a path in the code of the app and of its plugins is taken
for one. So a link is never reported as broken that an app answers itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import fxtrio
from fxtrio.compile.split.python_statements import parse_source
from fxtrio.config import Config
from fxtrio.config.plugin_names import BUILT_IN

_MOST = 2000
"""Public files that are named; of more, their folders are (count)."""


def other_paths(root: Path, config: Config) -> list[str]:
    """Return paths such as ``/admin/*``, sorted."""
    found = {"/api/*", "/llms.txt"}
    public = root / config.public_dir
    files = [path for path in sorted(public.rglob("*")) if path.is_file()][: _MOST + 1]
    names = [path.relative_to(public).as_posix() for path in files]
    if len(names) > _MOST:
        found.update(f"/{name.partition('/')[0]}/*" for name in names)
    else:
        found.update(f"/{name}" for name in names)
    for module in _modules(root, config):
        found.update(_named(module))
    for name in {plugin.name for plugin in config.plugins} & BUILT_IN.keys():
        for module in Path(fxtrio.__file__).parent.joinpath("plugins", name).rglob("*.py"):
            found |= _named(module) - {"", "/*"}
    return sorted(path for path in found if path.startswith("/"))


def _modules(root: Path, config: Config) -> Iterator[Path]:
    """Yield the files of the app and of what its settings name."""
    yield root / "app.py"
    # A package of the name of a plugin of ours may be installed, such as `mcp`.
    names = [one.name for one in config.plugins if one.name not in BUILT_IN]
    names += config.middleware
    for name in names:
        module = name.partition(":")[0]
        yield root / f"{module.replace('.', '/')}.py"
        yield root / f"{module.rpartition('.')[0].replace('.', '/')}.py"
        try:
            spec = find_spec(module.partition(".")[0])
        except (ImportError, ValueError):
            continue
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            yield from sorted(Path(folder).rglob("*.py"))[:_MOST]


def _named(module: Path) -> frozenset[str]:
    """Return what looks like a path in a module; it is read again when it has changed."""
    try:
        state = module.stat()
    except OSError:
        return frozenset()
    return _named_in(module, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4 * _MOST)
def _named_in(module: Path, modified: int, size: int) -> frozenset[str]:
    try:
        return frozenset(_paths_in(parse_source(module.read_text("utf-8"))))
    except (OSError, SyntaxError, ValueError):
        return frozenset()


def _paths_in(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value.partition("{")[0]
            if text.startswith("/") and len(text) > 1 and " " not in text and "\n" not in text:
                yield text.rstrip("/")
                yield f"{text.rstrip('/')}/*"
