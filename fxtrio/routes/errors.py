"""What is wrong with the pages folder."""

from __future__ import annotations

from pathlib import Path

import attrs

from fxtrio.errors import FxtrioError, shown_path


@attrs.define(eq=False)
class RouteConflict(FxtrioError):
    """Two files answer the same URLs. Found while routes are planned."""

    kept: str
    """Source of the file that came first."""

    source: str
    """Source of the file that clashes with it."""

    pattern: str

    def __str__(self) -> str:
        """Name both files."""
        return (
            f"{self.source}: answers {self.pattern!r}, which {self.kept} already answers. "
            "Rename one file, or move its code into the other."
        )


@attrs.define(eq=False)
class RouteNameInvalid(FxtrioError):
    """A file or folder of the pages folder has a name that is no part of a URL pattern."""

    source: str
    name: str
    cause: str

    def __str__(self) -> str:
        """Quote the part of the path that is wrong."""
        return f"{self.source}: {self.name!r} {self.cause}."


NO_PAGES_FOLDER = (
    "there is no such folder",
    "Run 'fx init NAME' for a new project, or name the folder of yours with --root; "
    "pages in another folder need 'pagesDir' in fx.config.json",
)


@attrs.define(eq=False)
class PagesFolderMissing(FxtrioError):
    """The project has no pages folder."""

    folder: Path

    def __str__(self) -> str:
        """Say how to get one."""
        return f"{shown_path(self.folder)}: {NO_PAGES_FOLDER[0]}. {NO_PAGES_FOLDER[1]}."
