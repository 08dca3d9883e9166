"""Parts of a lock file of npm: one package and all that it needs. Pure.

Called by `toolchain`, for tools that few commands want.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_NEEDED = ("dependencies", "optionalDependencies")
_MODULES = "node_modules/"


def part_of_lock(lock: bytes, names: tuple[str, ...]) -> tuple[bytes, bytes]:
    """Return ``package.json`` and ``package-lock.json`` for ``names`` alone.

    ``lock`` is a ``package-lock.json`` of version 3, which names them. Versions and digests
    stay what they are in it.
    """
    packages: Mapping[str, dict[str, Any]] = json.loads(lock)["packages"]
    found: dict[str, dict[str, Any]] = {}
    unread = [_MODULES + name for name in names]
    while unread:
        place = unread.pop()
        if place not in found:
            entry = packages[place]
            # npm leaves out packages with this mark.
            found[place] = {key: value for key, value in entry.items() if key != "dev"}
            unread += _places_needed(packages, place, entry)
    wanted = {name: packages[_MODULES + name]["version"] for name in names}
    head = {"name": "fxtrio-tools", "version": "0.0.0", "private": True}
    part = {
        **{"name": head["name"], "version": head["version"], "lockfileVersion": 3},
        "requires": True,
        "packages": {
            "": {**head, "dependencies": wanted},
            **dict(sorted(found.items())),
        },
    }
    return _dump({**head, "dependencies": wanted}), _dump(part)


def _places_needed(
    packages: Mapping[str, dict[str, Any]], place: str, entry: Mapping[str, Any]
) -> list[str]:
    """Return where Node finds what the package at ``place`` needs, as far as it is locked."""
    found = []
    for name in (name for kind in _NEEDED for name in entry.get(kind, ())):
        folder = place
        while folder and f"{folder}/{_MODULES}{name}" not in packages:
            folder = folder.rpartition(f"/{_MODULES}")[0]
        inner = f"{folder}/{_MODULES}{name}" if folder else _MODULES + name
        if inner in packages:
            found.append(inner)
    return found


def _dump(value: dict[str, Any]) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"
