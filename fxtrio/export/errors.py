"""What an export fails with, and what it leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import attrs

from fxtrio.errors import FxtrioError, PlacedError, display_path, sentence


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


class ExportFailed(FxtrioError):
    """An app cannot be exported; ``findings`` has every reason, by place."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__("\n".join(map(str, findings)))
        self.findings = tuple(findings)


class ExportFolderInvalid(PlacedError):
    """The export would replace a folder that is none of its own."""

    def __init__(self, folder: Path, cause: str, remedy: str) -> None:
        super().__init__(display_path(folder), cause, remedy)
        self.folder = folder
