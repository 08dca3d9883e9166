"""What an export fails with, and what it leaves out."""

from __future__ import annotations

from pathlib import Path

import attrs

from fxtrio.errors import PlacedError, SeveralProblems, display_path, sentence


@attrs.frozen(order=True)
class Finding:
    """Why something cannot be a file, or is a link that leads nowhere. Sorts by place."""

    place: str
    """A file of the project, with the line where it is known."""

    cause: str
    """Without a full stop."""

    remedy: str
    """Without a full stop."""

    def __str__(self) -> str:
        """Return ``place: cause. Remedy.``"""
        return f"{self.place}: {self.cause}. {sentence(self.remedy)}"


class ExportFailed(SeveralProblems[Finding]):
    """An app cannot be exported; ``problems`` has every reason, by place."""


class ExportFolderInvalid(PlacedError):
    """The export would replace a folder that is none of its own."""

    def __init__(self, folder: Path, cause: str, remedy: str) -> None:
        super().__init__(display_path(folder), cause, remedy)
