"""Lists the files of the pages folder (`scan`) and makes the page tree of them (`build_tree`).

`build_tree` is pure and reports every problem at once; `compile` calls `scan`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from fxtrio.config import Config
from fxtrio.errors import FxtrioError
from fxtrio.routes.errors import PagesFolderMissing, RouteConflict, RouteNameInvalid
from fxtrio.routes.pattern import (
    Kind,
    Segment,
    check_segments,
    join_pattern,
    parse_segment,
    shape,
    specificity,
)
from fxtrio.routes.suffixes import MARKDOWN_SUFFIX, PAGE_SUFFIX
from fxtrio.routes.tree import ApiFile, BoundaryFile, LayoutFile, PageFile, PageTree

README = "README.md"
"""For readers of the source: no page."""

MODEL_FILE = "content.py"
"""What has the class `FrontMatter` for pages in Markdown in its folder and below."""

_NEARLY = {".fx", ".flx", ".fxlx", ".xfl"}
SPECIAL_NAMES = ("layout", "template", "error", "not-found", "loading")
_NOT_HIDDEN = ".well-known"

Folder = tuple[str, ...]
"""Names of folders, from the pages folder down; empty for the pages folder itself."""

_Around = tuple[
    tuple[LayoutFile, ...], tuple[BoundaryFile, ...], tuple[BoundaryFile, ...], str | None
]
"""The layouts, error files and not-found files of a page, and its loading file."""


def scan(root: Path, config: Config) -> PageTree:
    """Return the page tree of the project in ``root``.

    Symbolic links to files are followed, those to folders are not. A missing pages
    folder is one of the tree's problems.
    """
    pages = root / config.pages_dir
    if not pages.is_dir():
        return PageTree(problems=(PagesFolderMissing(pages),))
    files = []
    for path, folders, names in os.walk(pages):
        folders[:] = sorted(folder for folder in folders if not _ignored(folder))
        folder = "".join(f"{part}/" for part in Path(path).relative_to(pages).parts)
        files += [folder + name for name in names if not _ignored(name)]
    return build_tree(files, pages_dir=config.pages_dir)


def build_tree(files: Iterable[str], *, pages_dir: str = "pages") -> PageTree:
    """Return what ``files`` (POSIX paths relative to the pages folder) mean together."""
    builder = _TreeBuilder(pages_dir)
    parts = sorted(tuple(file.split("/")) for file in files)
    for *folder, name in parts:
        builder.place(tuple(folder), name)
    return builder.finish()


def _ignored(name: str) -> bool:
    """Whether a file or folder is private or hidden."""
    return name.startswith("_") or (name.startswith(".") and name != _NOT_HIDDEN)


class _TreeBuilder(msgspec.Struct):
    pages_dir: str
    _pages: list[tuple[Folder, str, str]] = msgspec.field(default_factory=list)
    """(folder, source, pattern), in the order of the files."""
    _api: list[ApiFile] = msgspec.field(default_factory=list)
    _special: dict[tuple[Folder, str], str] = msgspec.field(default_factory=dict)
    _llms: dict[str, str] = msgspec.field(default_factory=dict)
    _markdown: dict[str, tuple[Folder, str]] = msgspec.field(default_factory=dict)
    """Source to folder and stem."""
    _models: list[str] = msgspec.field(default_factory=list)
    _shapes: dict[tuple[tuple[int, str], ...], str] = msgspec.field(default_factory=dict)
    _problems: list[FxtrioError] = msgspec.field(default_factory=list)

    def place(self, folder: Folder, name: str) -> None:
        """Put one file where it belongs."""
        if any(map(_ignored, (*folder, name))):
            return
        source = "/".join((self.pages_dir, *folder, name))
        source_text = source.encode(errors="backslashreplace").decode()
        if source_text != source:  # bytes that are no text stand for themselves in Python
            self._reject(source_text, source_text.rpartition("/")[2], "is not UTF-8. Rename it")
            return
        stem, dot, extension = name.rpartition(".")
        suffix = dot + extension
        in_api = "api" in folder
        if suffix == PAGE_SUFFIX and in_api:
            self._reject(source, name, "is a page in an api folder. Move it, or write a .py file")
        elif suffix == PAGE_SUFFIX and stem in SPECIAL_NAMES:
            self._special[folder, stem] = source
            self._segments(source, folder)
        elif suffix == PAGE_SUFFIX:
            pattern = self._claim(source, folder, stem)
            if pattern is not None:
                self._pages.append((folder, source, pattern))
        elif suffix == ".py" and in_api:
            pattern = self._claim(source, folder, stem)
            if pattern is not None:
                self._api.append(ApiFile(source, pattern))
        elif suffix in _NEARLY or suffix.lower() == PAGE_SUFFIX:
            self._reject(source, name, f"is not a page file. Let its name end in {PAGE_SUFFIX!r}")
        elif name == "llms.py":
            self._llms["/".join((self.pages_dir, *folder))] = source
        elif name == MODEL_FILE:
            self._models.append(source)
        elif suffix == MARKDOWN_SUFFIX and not in_api and name != README:
            self._markdown[source] = folder, stem

    def finish(self) -> PageTree:
        """Return the tree of all placed files."""
        beside = {
            source: file
            for _, source, _ in self._pages
            if (file := source.removesuffix(PAGE_SUFFIX) + MARKDOWN_SUFFIX) in self._markdown
        }
        self._place_markdown(set(beside.values()))
        folders = {folder: self._around(folder) for folder in {one[0] for one in self._pages}}
        pages = [
            PageFile(source, pattern, *folders[folder]) for folder, source, pattern in self._pages
        ]
        return PageTree(
            pages=tuple(sorted(pages, key=lambda page: specificity(page.pattern))),
            api=tuple(sorted(self._api, key=lambda api: specificity(api.pattern))),
            not_found=self._folders_not_found(),
            llms=self._llms,
            markdown=beside,
            models=tuple(self._models),
            problems=tuple(self._problems),
        )

    def _place_markdown(self, beside: set[str]) -> None:
        """Make pages of the Markdown files that are not beside a page file."""
        for source, (folder, stem) in self._markdown.items():
            if source in beside:
                continue
            name = f"{stem}{MARKDOWN_SUFFIX}"
            if stem in SPECIAL_NAMES:
                remedy = f"Write {stem}{PAGE_SUFFIX}, or rename it"
                self._reject(source, name, f"is a page of a name with a meaning. {remedy}")
            elif (pattern := self._claim(source, folder, stem)) is not None:
                self._pages.append((folder, source, pattern))

    def _claim(self, source: str, folder: Folder, stem: str) -> str | None:
        """Return the pattern of a page or endpoint; None with a problem reported."""
        names = folder if stem == "index" else (*folder, stem)
        if stem.startswith("(") and stem.endswith(")"):
            self._reject(source, stem, "is a file. Only folders can be groups in parentheses")
            return None
        segments = self._segments(source, names)
        if segments is None:
            return None
        if segments == (Segment(Kind.LITERAL, "index"),):
            cause = "answers '/index', which means '/' in actions and Markdown. Rename it"
            self._reject(source, "index", cause)
            return None
        first = self._shapes.setdefault(shape(segments), source)
        if first != source:
            self._problems.append(RouteConflict(first, source, join_pattern(segments)))
            return None
        return join_pattern(segments)

    def _segments(self, source: str, names: Folder) -> tuple[Segment, ...] | None:
        """Return the URL segments of ``names`` without groups; None with a problem reported."""
        segments: tuple[Segment, ...] = ()
        for name in names:
            if name.startswith("(") and name.endswith(")") and len(name) > 2:
                continue
            try:
                segments = (*segments, parse_segment(name))
                check_segments(segments)
            except ValueError as error:
                self._reject(source, name, str(error))
                return None
        return segments

    def _reject(self, source: str, name: str, cause: str) -> None:
        self._problems.append(RouteNameInvalid(source, name, cause))

    def _around(self, folder: Folder) -> _Around:
        """Return what applies to each page of a folder."""
        return (
            self._layouts(folder),
            self._errors(folder),
            self._not_found(folder),
            self._nearest(folder, "loading"),
        )

    def _layouts(self, folder: Folder) -> tuple[LayoutFile, ...]:
        found: list[LayoutFile] = []
        for outer in _outermost_first(folder):
            for stem in ("layout", "template"):
                source = self._special.get((outer, stem))
                if source is not None:
                    found.append(LayoutFile(source, is_template=stem == "template"))
        return tuple(found)

    def _errors(self, folder: Folder) -> tuple[BoundaryFile, ...]:
        chain: tuple[BoundaryFile, ...] = ()
        for outer in _outermost_first(folder):
            source = self._special.get((outer, "error"))
            if source is not None:
                layouts = self._layouts(outer)
                if not outer and layouts:
                    chain = (BoundaryFile(source),)
                chain = (BoundaryFile(source, layouts, chain), *chain)
        return chain

    def _not_found(self, folder: Folder) -> tuple[BoundaryFile, ...]:
        return tuple(
            BoundaryFile(source, self._layouts(outer), self._errors(outer))
            for outer in reversed(_outermost_first(folder))
            if (source := self._special.get((outer, "not-found"))) is not None
        )

    def _nearest(self, folder: Folder, stem: str) -> str | None:
        sources = (self._special.get((outer, stem)) for outer in _outermost_first(folder))
        return next((source for source in reversed([*sources]) if source is not None), None)

    def _folders_not_found(self) -> dict[str, BoundaryFile]:
        """Of folders with the same URL, the one with fewest groups answers for it."""
        found: dict[str, BoundaryFile] = {}
        folders = sorted((folder for folder, stem in self._special if stem == "not-found"), key=len)
        for folder in folders:
            names = tuple(name for name in folder if not name.startswith("("))
            try:
                pattern = join_pattern(tuple(map(parse_segment, names)))
            except ValueError:  # reported when the file was placed
                continue
            found.setdefault(pattern, self._not_found(folder)[0])
        return found


def _outermost_first(folder: Folder) -> list[Folder]:
    return [folder[:depth] for depth in range(len(folder) + 1)]


def url_of(source: str, pages_dir: str) -> str | None:
    """Return the path of the page that a source stands for; None for one that is no such page.

    That is a file of another folder or kind, and a page whose URL has parameters.
    """
    folder, _, name = source.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    inside = folder == pages_dir or folder.startswith(f"{pages_dir}/")
    if not inside or dot + extension not in (PAGE_SUFFIX, MARKDOWN_SUFFIX):
        return None
    names = folder[len(pages_dir) + 1 :].split("/") if folder != pages_dir else []
    names += [] if stem == "index" else [stem]
    if any(map(_ignored, names)) or "[" in source or stem in SPECIAL_NAMES or name == README:
        return None
    return "/" + "/".join(one for one in names if not (one.startswith("(") and one.endswith(")")))
