"""`import_failed`: what a file of the project has raised while a command imported it.

Called for commands that import the project in their own process, such as `fx export`, and by the
processes of `fx serve`.
"""

from __future__ import annotations

import traceback
from pathlib import Path

from fxtrio import imports
from fxtrio.cli.import_check.importer import explain
from fxtrio.errors import PlacedError, display_path
from fxtrio.tracebacks import is_application


class ImportFailed(PlacedError):
    """A file of the project cannot be imported, so the command cannot do its work."""

    def __init__(self, place: str, cause: str, remedy: str) -> None:
        """``cause`` and ``remedy`` are without a full stop."""
        super().__init__(place, f"importing it fails: {cause}", remedy)
        self.cause = cause


def import_failed(error: BaseException) -> ImportFailed | None:
    """Return what to print in place of an error that an import of the project has raised.

    None for any other error, which may be a defect.
    """
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    return _explained(error, files.index(imports.__file__)) if imports.__file__ in files else None


def start_failed(error: BaseException) -> ImportFailed | None:
    """Return what to print in place of an error that importing the app to serve has raised.

    None for one that no code of the application is to blame for.
    """
    return _explained(error, 0)


def _explained(error: BaseException, first: int) -> ImportFailed | None:
    own = [
        (frame.filename, frame.lineno or 1)
        for frame in traceback.extract_tb(error.__traceback__)[first:]
        if is_application(frame.filename)
    ]
    if isinstance(error, SyntaxError) and error.filename and is_application(error.filename):
        own.append((error.filename, error.lineno or 1))
    if not own:
        return None
    file, line = own[-1]
    return ImportFailed(f"{display_path(Path(file))}:{line}", *explain(error))
