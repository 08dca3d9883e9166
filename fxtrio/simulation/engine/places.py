"""Where in the application a task waits."""

from __future__ import annotations

import os
from pathlib import Path

from trio.lowlevel import Task

from fxtrio.tracebacks import is_application

_HERE = f"{Path(__file__).parents[2]}{os.sep}"


def place_of(task: Task) -> str:
    """Return file, line and function; "" where it does not wait in the application."""
    found = ""
    for frame, line in task.iter_await_frames():
        code = frame.f_code
        if is_application(code.co_filename) and not code.co_filename.startswith(_HERE):
            found = f"{os.path.relpath(code.co_filename)}:{line} {code.co_name}"
    return found
