"""The licences of all that an installation brings: Python packages by their metadata, npm by lock.

``python -m tests.packages.licences`` prints the table of `docs/reference/dependencies.md`.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from fxtrio.compile.bundling.installation import JS, LOCK, part_of_lock
from fxtrio.tools.format.prettier import _NAME as PRETTIER
from fxtrio.tools.types.report.compiler import PACKAGES as TYPES

DOCS = Path(__file__).parent.parent.parent / "docs/reference/dependencies.md"

ALLOWED = frozenset(
    {
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MIT-CMU"),
        "PSF-2.0",
    }
)
"""Permissive licences, which ask for no more than a notice."""

EXCEPTIONS = {
    "pathspec": "MPL-2.0",
    "certifi": "MPL-2.0",
    "lightningcss": "MPL-2.0",
    "psycopg": "LGPL-3.0-only",
    "psycopg-binary": "LGPL-3.0-only",
}
"""Weak copyleft, used as it is: changes of these packages themselves must be published."""

_SPELLINGS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def licence_of(name: str) -> str:
    """Return the SPDX expression of an installed distribution, as its metadata says it."""
    found = distribution(name).metadata
    short = "".join(found.get_all("License") or [])
    classifiers = [
        one.rpartition(" :: ")[2]
        for one in found.get_all("Classifier") or []
        if one.startswith("License :: ")
    ]
    licence = "".join(found.get_all("License-Expression") or [])
    licence = licence or (short if 0 < len(short) < 40 else "")
    licence = licence or " OR ".join(classifiers)
    return _SPELLINGS.get(licence, licence)


@cache
def requirements_of(name: str) -> tuple[Requirement, ...]:
    """Return what an installed distribution requires, whatever the marker.

    Raises PackageNotFoundError for one of another system, or left out of this environment.
    """
    return tuple(map(Requirement, distribution(name).requires or []))


def python_packages() -> dict[str, tuple[str, str]]:
    """Return the licence of each package, and the extra that brings it ("" for all)."""
    found: dict[str, tuple[str, str]] = {}
    provided = distribution("fxtrio").metadata.get_all("Provides-Extra") or []
    for extra in ["", *sorted(one for one in provided if one != "dev")]:
        unread = [("fxtrio", extra)]
        seen: set[tuple[str, str]] = set()
        while unread:
            name, wanted = unread.pop()
            if (name, wanted) in seen:
                continue
            seen.add((name, wanted))
            try:
                requirements = requirements_of(name)
            except PackageNotFoundError:
                continue
            if name not in found and name != "fxtrio":
                found[name] = licence_of(name), extra
            for one in requirements:
                if one.marker is None or one.marker.evaluate({"extra": wanted}):
                    unread += [(normal(one.name), more) for more in ["", *one.extras]]
    return found


def npm_packages() -> dict[str, str]:
    """Return the licence of each npm package that users install, but for those of one system."""
    lock = (JS / LOCK).read_bytes()
    packages: dict[str, Any] = {
        path: entry for path, entry in json.loads(lock)["packages"].items() if not entry.get("dev")
    }
    for tool in ([PRETTIER], [*TYPES]):
        packages |= json.loads(part_of_lock(lock, tuple(tool))[1])["packages"]
    return {
        path.rpartition("node_modules/")[2]: entry["license"]
        for path, entry in sorted(packages.items())
        if path and not (entry.get("os") or entry.get("cpu") or entry.get("libc"))
    }


def table() -> str:
    """Return the table for the documentation."""
    rows = [
        f"| `{name}` | {licence} | {f'extra `{extra}`' if extra else 'always'} |"
        for name, (licence, extra) in sorted(python_packages().items())
    ]
    rows += [f"| `{name}` | {licence} | npm |" for name, licence in npm_packages().items()]
    return "\n".join(["| Package | Licence | Comes |", "|---|---|---|", *rows])


if __name__ == "__main__":
    print(table())
