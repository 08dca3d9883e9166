"""Errors of the pages folder."""

from __future__ import annotations

from pathlib import Path

from fxtrio.errors import FxtrioError, display_path


class RouteConflict(FxtrioError):
    """Two files answer the same URLs. Found while routes are planned."""

    def __init__(self, existing: str, source: str, pattern: str) -> None:
        super().__init__(existing, source, pattern)
        self.existing = existing
        """Source of the file that came first."""
        self.source = source
        """Source of the file that clashes with it."""
        self.pattern = pattern

    def __str__(self) -> str:
        """Name both files."""
        return (
            f"{self.source}: answers {self.pattern!r}, which {self.existing} already answers. "
            "Rename one file, or move its code into the other."
        )


class RouteNameInvalid(FxtrioError):
    """A file or folder of the pages folder has a name that is no part of a URL pattern."""

    def __init__(self, source: str, name: str, cause: str) -> None:
        super().__init__(source, name, cause)
        self.source = source
        self.name = name
        self.cause = cause

    def __str__(self) -> str:
        """Quote the part of the path that is wrong."""
        return f"{self.source}: {self.name!r} {self.cause}."


NO_PAGES_FOLDER = (
    "there is no such folder",
    "Run 'fx init NAME' for a new project, or name the folder of yours with --root; "
    "pages in another folder need 'pagesDir' in fx.config.json",
)


class PagesFolderMissing(FxtrioError):
    """The project has no pages folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder

    def __str__(self) -> str:
        """Say how to get one."""
        return f"{display_path(self.folder)}: {NO_PAGES_FOLDER[0]}. {NO_PAGES_FOLDER[1]}."
