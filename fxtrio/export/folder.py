"""The files of an export: no two at one place, and the whole folder or none of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from unicodedata import normalize

import attrs

from fxtrio.compile.publish.previous_build import former_files
from fxtrio.compile.publish.replace_folder import (
    open_staging,
    put_in_place,
    why_irreplaceable,
)
from fxtrio.compression.precompressed import find_public
from fxtrio.export.errors import ExportFolderInvalid, Finding
from fxtrio.serve.static_files import Folder

MARK = ".fx-export"
"""The file by which a folder is known to be an export, which another one may replace."""

_PLAIN = {MARK: b"", ".nojekyll": b""}
"""Files of each export; GitHub Pages would leave out names such as `_fx` without the second."""


@attrs.define
class Files:
    """The files of an export by their paths, with slashes and without one in front."""

    contents: dict[str, bytes | Path] = attrs.field(factory=dict)
    """What each file contains, or the file that it is a copy of."""

    _owners: dict[str, str] = attrs.field(factory=dict)
    """The place of the project that each comes from."""

    _by_key: dict[str, str] = attrs.field(factory=dict)
    """The name of each file by its `_key`."""

    def add(self, name: str, content: bytes | Path, *, owner: str) -> Finding | None:
        """Add a file; return why that is not possible, if it is not."""
        cause, remedy = "", "Rename one of them"
        other = self._by_key.get(_key(name))
        if other == name:
            cause = f"is a file of {self._owners[name]} already"
        elif other is not None:
            cause = f"differs only in case from {other} of {self._owners[other]}"
        for folder in map(PurePosixPath.as_posix, PurePosixPath(name).parents):
            if _key(folder) in self._by_key:
                cause = f"is below the file {self._owners[self._by_key[_key(folder)]]}"
        if cause:
            return Finding(owner, f"{name} in the export {cause}", remedy)
        self._put(name, content, owner)
        return None

    def add_missing(self, name: str, content: bytes, *, owner: str) -> None:
        """Add a file unless the project has one of that name."""
        if _key(name) not in self._by_key:
            self._put(name, content, owner)

    def _put(self, name: str, content: bytes | Path, owner: str) -> None:
        self.contents[name] = content
        self._owners[name] = owner
        self._by_key[_key(name)] = name

    def folder_conflicts(self) -> Iterator[Finding]:
        """Yield files whose names are folders of others."""
        folders = {
            _key(folder.as_posix())
            for name in self.contents
            for folder in PurePosixPath(name).parents
        }
        for key in sorted(folders & self._by_key.keys()):
            name = self._by_key[key]
            yield Finding(
                self._owners[name], f"{name} in the export is also a folder", "Rename one of them"
            )


def _key(name: str) -> str:
    """Return what two names share that are one file for hosts such as those on macOS or Windows."""
    return normalize("NFC", normalize("NFC", name).casefold())


def page_file(path: str, name: str = "index.html") -> str:
    """Return the file of the page at a decoded path."""
    return f"{path.strip('/')}/{name}".lstrip("/")


def add_assets(files: Files, build: Path, client: str) -> None:
    """Add the files of a build for browsers, without those of the build before it."""
    former = former_files(build)
    folder = build / client
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and path.suffix != ".map" and f"{client}/{name}" not in former:
            files.add(f"_fx/{name}", path, owner="the build")


def add_public(files: Files, build: Path, public: Path, *, display_name: str) -> list[Finding]:
    """Add the public files as they are served; messages call their folder ``display_name``."""
    served = Folder(public, immutable=False, listed=True, compressed={})
    compressed = find_public(build, public)
    found = []
    for name in sorted(served.names):
        path = public / name[1:]
        if not path.resolve().is_relative_to(public.resolve()):
            continue
        encodings = compressed[name].encodings.values() if name in compressed else ()
        copies = {
            name[1:]: path,
            **{f"{name[1:]}{encoding.suffix}": encoding for encoding in encodings},
        }
        for copy, source in copies.items():
            conflict = files.add(copy, source, owner=f"{display_name}{name}")
            if conflict is not None:
                found.append(conflict)
    return found


def require_replaceable(folder: Path, root: Path, *sources: str) -> None:
    """Raise ExportFolderInvalid unless ``folder`` is new, empty or an export, outside the project.

    It may be in the project's folder ``root``, but not in one of its ``sources``.
    """
    for source in sources:
        if folder.is_relative_to(root / source):
            cause = f"is in {source}, which is exported itself"
            raise ExportFolderInvalid(folder, cause, "Name a new folder, such as 'dist'")
    reason = why_irreplaceable(folder, root, mark=MARK, command="fx export")
    if reason is not None:
        raise ExportFolderInvalid(folder, *reason)


def write_folder(files: Files, folder: Path) -> None:
    """Write all files beside ``folder``, and let them take its place. Raises OSError."""
    with open_staging(folder) as staging:
        for name, content in sorted({**_PLAIN, **files.contents}.items()):
            path = staging / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            else:
                shutil.copyfile(content, path)
        put_in_place(staging, folder)
