"""The versions of the site: the newest at its root, each other one in a folder of its name.

Each version is built from its own checkout, and is told of the others. A build leaves the folders
of the others as they are.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs

from fxtrio import __version__

OWN = ".".join(__version__.split(".")[:2])
"""Patches have no documentation of their own."""


@attrs.frozen
class Version:
    """A version of the site."""

    name: str
    """As `0.1`."""

    url: str
    """Of its home page. It is another app, so the URL has the host."""


def listed(names: Sequence[str], root: str) -> list[Version]:
    """Return the versions with these names, newest first, below the URL of the newest."""
    if OWN not in names:
        raise SystemExit(f"--versions: {OWN}, which this checkout has, is not among them.")
    newest, *others = names
    return [Version(newest, f"{root}/"), *(Version(name, f"{root}/{name}/") for name in others)]


def module_of(versions: Sequence[Version]) -> str:
    """Return the module that the layout imports."""
    return f"export const own = {json.dumps(OWN)};\nexport const versions = {_list(versions)};\n"


def written_list(versions: Sequence[Version]) -> str:
    """Return the file `versions.json` at the root of the site, newest first."""
    return f"{_list(versions)}\n"


def _list(versions: Sequence[Version]) -> str:
    return json.dumps([attrs.asdict(version) for version in versions])


@contextmanager
def others_restored(out: Path, names: Sequence[str]) -> Iterator[None]:
    """Bring the folders of other versions back after the block, which replaces ``out``."""
    others = [name for name in names if (out / name / ".fx-export").is_file()]
    if not others:
        yield
        return
    with tempfile.TemporaryDirectory(dir=out.parent) as beside:
        for name in others:
            shutil.move(out / name, Path(beside, name))
        try:
            yield
        finally:
            for name in others:
                shutil.move(Path(beside, name), out / name)
