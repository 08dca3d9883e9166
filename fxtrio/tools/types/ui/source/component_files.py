"""Components in files of their own: which there are, and who passes what to them.

A file without types gets the types of what all its importers pass, as the components of a page do
(`component_props`); a file with types is checked as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, partial
from pathlib import Path

import attrs

from fxtrio.compile.checked_page import CheckedPage
from fxtrio.manifest import PageModule
from fxtrio.tools.types.gather.page_types import PageTypes
from fxtrio.tools.types.ui.source.component_imports import (
    ImportedFile,
    exported_names,
    imported_files,
    source_of,
)
from fxtrio.tools.types.ui.source.component_props import ImportedTags, Use

TYPED_SUFFIXES = (".tsx", ".ts")
_SUFFIXES = (".jsx", *TYPED_SUFFIXES)
_PLAIN_SUFFIXES = (".js", ".mjs", ".cjs")
_MOST = 2_000_000
"""Bytes of a file that is read."""

Stamp = tuple[int, int]


@attrs.frozen(eq=False)
class ComponentFile:
    """One file."""

    page: CheckedPage
    types: PageTypes
    exports: Mapping[str, str]
    """Names of what it exports, by what they are called outside."""


@attrs.frozen(eq=False)
class Importer:
    """Who imports files: a page or another file."""

    source: str
    names: Mapping[str, tuple[str, str]]
    """By the name that it has here: the file, and what that calls it outside."""


@attrs.frozen(eq=False)
class FoundFiles:
    """The files that the pages of a project import."""

    files: Mapping[str, ComponentFile] = attrs.field(factory=dict)
    importers: Mapping[str, Importer] = attrs.field(factory=dict)
    opaque: frozenset[str] = frozenset()
    """Files of which it cannot be seen what is used of them."""

    plain: Mapping[str, str] = attrs.field(factory=dict)
    """The texts of JavaScript files, which are not checked but may say what they take."""


def tags_of_imports(source: str, tags: ImportedTags, files: FoundFiles) -> tuple[Use, ...]:
    """Return the ``tags`` of components without types that the half ``source`` imports."""
    importer = files.importers.get(source)
    names = () if importer is None else importer.names.items()
    untyped = [name for name, (file, _) in names if not file.endswith(TYPED_SUFFIXES)]
    return tuple(one for name in untyped for one in tags.of(name) or ())


@attrs.define(eq=False)
class ComponentFiles:
    """Finds the files of one project; keeps what it has read of those that stay the same."""

    root: Path
    _read: dict[str, tuple[Stamp, ComponentFile]] = attrs.field(factory=dict)
    _imports: dict[str, tuple[str, tuple[ImportedFile, ...]]] = attrs.field(factory=dict)

    def find(self, pages: Iterable[CheckedPage]) -> FoundFiles:
        """Return the files that ``pages`` import, and those that these import."""
        files: dict[str, ComponentFile] = {}
        importers: dict[str, Importer] = {}
        opaque: set[str] = set()
        plain: dict[str, str] = {}
        target_of = cache(partial(source_of, exists=cache(self._exists)))  # many import the same
        waiting = list(pages)
        while waiting:
            page = waiting.pop()
            source = page.module.source
            folder, names = source.rpartition("/")[0], dict[str, tuple[str, str]]()
            for one in self._imports_of(source, page.ui):
                target = target_of(folder, one.file)
                if target.endswith(_PLAIN_SUFFIXES) and target not in plain:
                    read = self._file(target)
                    if read is not None:
                        plain[target] = read.page.ui
                        waiting.append(read.page)
                if source in plain or not target.endswith(_SUFFIXES):
                    continue
                if target not in files:
                    found = self._file(target)
                    if found is None:
                        continue
                    files[target] = found
                    waiting.append(found.page)
                if one.names is None:
                    opaque.add(target)
                names.update(
                    {name: (target, outside) for name, outside in (one.names or {}).items()}
                )
            if names:
                importers[source] = Importer(source, names)
        return FoundFiles(files, importers, frozenset(opaque), plain)

    def _imports_of(self, source: str, text: str) -> tuple[ImportedFile, ...]:
        known, found = self._imports.get(source, ("", ()))
        if known != text:
            found = tuple(imported_files(text))
            self._imports[source] = text, found
        return found

    def _exists(self, source: str) -> bool:
        return (self.root / source).is_file()

    def _file(self, source: str) -> ComponentFile | None:
        try:
            status = (self.root / source).stat()
            stamp = status.st_mtime_ns, status.st_size
            known = self._read.get(source)
            if known is not None and known[0] == stamp:
                return known[1]
            if status.st_size > _MOST:
                return None
            text = (self.root / source).read_bytes().decode("utf-8").replace("\r\n", "\n")
        except (OSError, UnicodeDecodeError):  # which the bundler reports
            return None
        page = CheckedPage(PageModule(source=source), "", text)
        found = ComponentFile(page, PageTypes(source, "component"), exported_names(text))
        self._read[source] = stamp, found
        return found
