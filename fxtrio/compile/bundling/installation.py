"""Where the toolchain of this version belongs, and other tools; whether they are there.

Imports next to nothing: `fx dev` begins with it. `fxtrio.compile.bundling.toolchain` installs them.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from fxtrio.build_folder import UNUSABLE
from fxtrio.cache_folder import cache_folder

JS = Path(__file__).parents[2] / "js"
"""Folder of fxtrio's own JavaScript and of the lock file."""

LOCK = "package-lock.json"
LISTING = "installed.json"
"""Written last: the files of an installation, with their sizes."""


@attrs.frozen
class Installation:
    """Packages that stand in a folder of their own. Created by `toolchain` and `tool`."""

    folder: Path
    """Where they belong; ``node_modules`` is in it."""

    name: str
    """Its name in messages."""

    package: bytes
    """Its ``package.json``."""

    lock: bytes
    """Its ``package-lock.json``."""


def toolchain() -> Installation:
    """Return what bundles and renders pages."""
    package = (JS / "package.json").read_bytes()
    return _installation("toolchain", "the toolchain (Vite, React)", package, _lock())


def tool(name: str, *beside: str) -> Installation:
    """Return a tool that few commands need, with all that it needs.

    ``name`` is a package that the lock file pins, such as "prettier", and so are those
    ``beside`` it.
    """
    return _installation(name, name, *part_of_lock(_lock(), (name, *beside)))


def toolchain_folder() -> Path:
    """Return where the toolchain of this version of fxtrio belongs on this machine."""
    return toolchain().folder


def _lock() -> bytes:
    return (JS / LOCK).read_bytes()


def _installation(folder: str, name: str, package: bytes, lock: bytes) -> Installation:
    digest = hashlib.sha256(lock)
    # Packages with native code: a cache folder may be shared by several machines.
    libc = "-".join(platform.libc_ver())
    digest.update(f"{sys.platform} {platform.machine()} {libc}".encode())
    return Installation(cache_folder() / f"{folder}-{digest.hexdigest()[:16]}", name, package, lock)


def is_whole(folder: Path) -> bool:
    """Return whether every file is there that was installed, with its size."""
    try:
        listing = json.loads((folder / LISTING).read_bytes())
        root = str(folder)
        return isinstance(listing, dict) and all(
            os.stat(f"{root}/{path}").st_size == size  # noqa: PTH116 - 450 Paths cost 2 ms more
            for path, size in listing.items()
        )
    except UNUSABLE:
        return False


_NEEDED = ("dependencies", "optionalDependencies")
_MODULES = "node_modules/"


def part_of_lock(lock: bytes, names: tuple[str, ...]) -> tuple[bytes, bytes]:
    """Return ``package.json`` and ``package-lock.json`` for ``names`` alone, and all they need.

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
