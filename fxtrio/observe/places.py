"""Lines of code as trees and logs name them: ``pages/book.fxl:11 find_reviews``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import trio

from fxtrio.errors import display_path
from fxtrio.tracebacks import is_application

_FOLDERS = ("/site-packages/", "/lib/python", f"{Path(__file__).parents[2]}/")
_TRIO = f"{Path(trio.__file__).parent}/"


_PLACE_NAME = "_fx_at"
"""A local variable of the framework's functions that run files of the application other than
Python's: the place in such a file."""


def is_of_application(frame: FrameType) -> bool:
    """Whether it is the application's, and not the script that has begun everything."""
    if _PLACE_NAME in frame.f_code.co_varnames:
        return True
    main = frame.f_globals.get("__name__") == "__main__"
    return not main and is_application(frame.f_code.co_filename)


def is_of_trio(frame: FrameType) -> bool:
    """Whether it is a frame of trio itself, where every task ends that waits."""
    return frame.f_code.co_filename.startswith(_TRIO)


def line_of(frame: FrameType, line: int) -> str:
    """Return file, line and function; of the application relative to the current folder."""
    if _PLACE_NAME in frame.f_code.co_varnames:
        return str(frame.f_locals.get(_PLACE_NAME, ""))
    name = frame.f_code.co_filename
    for folder in _FOLDERS:
        _, found, rest = name.rpartition(folder)
        if found:
            name = rest
            break
    else:
        name = display_path(Path(name))
    return f"{name}:{line} {frame.f_code.co_name}"


def stack_of(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of a thread, innermost first."""
    while frame is not None:
        yield frame
        frame = frame.f_back
