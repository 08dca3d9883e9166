"""Errors of the pages folder."""

from __future__ import annotations

from pathlib import Path

from fxtrio.errors import PlacedError, display_path


class RouteConflict(PlacedError):
    """Two files serve the same URLs. Found while routes are planned."""

    remedy = "Rename one file, or move its code into the other"

    def __init__(self, existing: str, source: str, pattern: str) -> None:
        """``existing`` is the file that came first, ``source`` the one that clashes with it."""
        super().__init__(source, f"serves {pattern!r}, which {existing} already serves")


class RouteNameInvalid(PlacedError):
    """A file or folder of the pages folder has a name that is no part of a URL pattern."""

    def __init__(self, source: str, name: str, cause: str) -> None:
        super().__init__(source, f"{name!r} {cause}")
        self.name = name
        self.cause = cause


NO_PAGES_FOLDER = (
    "there is no such folder",
    "Run 'fx init NAME' for a new project, or name the folder of yours with --root; "
    "pages in another folder need 'pagesDir' in fx.config.json",
)


class PagesFolderMissing(PlacedError):
    """The project has no pages folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(display_path(folder), *NO_PAGES_FOLDER)
