"""What of a build outlives it: browsers still ask for its hashed files, and a server that was
started on it still renders with its bundle. Called by `build`.

Each build takes over the files of the one before, and none of those that it had taken over.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import attrs
import msgspec

from fxtrio.manifest import Manifest, ManifestUnreadable, load_manifest

LISTING = "former.json"


@attrs.frozen
class Former:
    """Files of a build folder that are those of the build before it."""

    files: tuple[str, ...] = ()
    """Relative to the build folder."""


def take_over(target: Path, staging: Path, *, build_id: str) -> None:
    """Link files of the build in ``target`` that may still be requested into ``staging``.

    The same build once more takes over what that one had: nothing becomes older by it. Raises
    OSError.
    """
    try:
        manifest = load_manifest(target)
    except ManifestUnreadable:  # there is none, or it is of another version of fxtrio
        return
    inherited = set(_read(target).files)
    is_same = manifest.build_id == build_id
    own_files = sorted(inherited if is_same else _own_files(target, manifest) - inherited)
    taken = [name for name in own_files if _link(target / name, staging / name)]
    (staging / LISTING).write_bytes(msgspec.json.encode(Former(tuple(taken))))


def former_files(build: Path) -> frozenset[str]:
    """Return the files of a build folder that are those of the build before it."""
    return frozenset(_read(build).files)


def _read(build: Path) -> Former:
    try:
        return msgspec.json.decode((build / LISTING).read_bytes(), type=Former)
    except FileNotFoundError:
        return Former()


def _own_files(build: Path, manifest: Manifest) -> set[str]:
    """Return the files for browsers, without their source maps, and those that render."""
    folders = build / manifest.assets.client, (build / manifest.assets.server).parent
    client, _ = folders
    return {
        path.relative_to(build).as_posix()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and not (path.is_relative_to(client) and path.suffix == ".map")
    }


def _link(source: Path, target: Path) -> bool:
    """Link a file, or copy it where that is not possible; False if it exists or is missing."""
    if target.exists() or not source.exists():
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:  # a file system without links
        shutil.copy2(source, target)
    return True
