"""Every exception fxtrio raises on purpose.

Messages read ``place: cause. Remedy.`` and quote the value that caused them.
"""

from __future__ import annotations

from pathlib import Path


class FxtrioError(Exception):
    """The base of all errors below; the command line prints it without a traceback."""


class ManifestUnreadable(FxtrioError):
    """The build folder holds no manifest that this version can read."""

    def __init__(self, path: Path, cause: str) -> None:
        super().__init__(f"{path}: {cause}. Run 'fx build'.")
        self.path = path
        self.cause = cause
