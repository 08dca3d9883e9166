"""Which modules have a name that a page uses and does not import. Nothing is imported."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

MOST_FILES = 1000
"""Files of a project that are looked at (count)."""

_LARGEST = 200_000  # bytes of such a file
_PASSED_OVER = frozenset({"node_modules", "__pycache__", "venv", "tests"})

_LIST = re.compile(r"(?m)^export \{([^{}]*+)\}")
_NAME = re.compile(r"[\w$]++")

_KNOWN = {
    "pathlib": "Path PurePath PurePosixPath",
    "datetime": "date datetime time timedelta timezone UTC",
    "dataclasses": "dataclass field asdict replace",
    "decimal": "Decimal",
    "uuid": "UUID uuid4",
    "enum": "Enum StrEnum IntEnum auto",
    "functools": "partial cache lru_cache reduce wraps",
    "collections": "Counter defaultdict deque namedtuple",
    "contextlib": "asynccontextmanager contextmanager suppress",
    "typing": "Annotated Any ClassVar Final Generic Literal NamedTuple NotRequired Optional "
    "Protocol TypedDict TypeVar Union cast",
    "collections.abc": "AsyncIterator Awaitable Callable Iterable Iterator Mapping Sequence",
    "starlette.requests": "Request",
    "starlette.responses": "JSONResponse PlainTextResponse Response StreamingResponse",
    "starlette.websockets": "WebSocket",
}


def python_homes(root: Path, name: str) -> list[str]:
    """Return import statements that define a name, those of the project first."""
    found = [f"from {module} import {name}" for module in _project_modules(root, name)]
    found += [
        f"from {home} import {name}" for home, names in _KNOWN.items() if name in names.split()
    ]
    if name in sys.stdlib_module_names or _is_installed(name):
        found.append(f"import {name}")
    return list(dict.fromkeys(found))


def _is_installed(name: str) -> bool:
    try:
        return name.isidentifier() and find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _project_modules(root: Path, name: str) -> Iterator[str]:
    defined = re.compile(
        rf"(?m)^(?:(?:async )?def|class) {re.escape(name)}\b|^{re.escape(name)}\b.*="
    )
    for file, text in _texts(root, (".py",)):
        parts = file.relative_to(root).with_suffix("").parts
        module = parts[:-1] if parts[-1] == "__init__" else parts
        if module and all(map(str.isidentifier, module)) and defined.search(text):
            yield ".".join(module)


def ui_homes(root: Path, path: str, name: str) -> list[tuple[str, bool]]:
    """Return specifiers of the project's modules that export a name, and whether as the default."""
    word = re.escape(name)
    named = re.compile(rf"(?m)^export (?:async )?(?:function\*?|class|const|let|var) {word}\b")
    default = re.compile(rf"(?m)^export default (?:async )?(?:(?:function|class) )?{word}\b")
    found = []
    for file, text in _texts(root, (".js", ".jsx", ".ts", ".tsx", ".mjs")):
        is_default = default.search(text) is not None
        if is_default or named.search(text) is not None or name in _listed(text):
            specifier = os.path.relpath(file, (root / path).parent).replace(os.sep, "/")
            specifier = specifier if specifier.startswith(".") else f"./{specifier}"
            found.append((specifier, is_default))
    return found


def _listed(text: str) -> set[str]:
    """Return the names in lists of exports."""
    return {word for found in _LIST.finditer(text) for word in _NAME.findall(found[1])}


def _texts(root: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    count = 0
    for parent, folders, names in os.walk(root):
        folders[:] = sorted(
            one for one in folders if not one.startswith(".") and one not in _PASSED_OVER
        )
        for name in sorted(names):
            file = Path(parent, name)
            if not name.endswith(suffixes) or count == MOST_FILES:
                continue
            count += 1
            try:
                if file.stat().st_size <= _LARGEST:
                    yield file, file.read_text("utf-8", "replace")
            except OSError:
                continue
