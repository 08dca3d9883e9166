"""Where in the application a task waits."""

from __future__ import annotations

import os
from pathlib import Path

from trio.lowlevel import Task

from fxtrio.tracebacks import is_application

_HERE = f"{Path(__file__).parents[2]}{os.sep}"


def is_of_application(file: str) -> bool:
    """Whether code of ``file`` is the application's or the test's, and not the framework's."""
    return is_application(file) and not file.startswith(_HERE)


def place_of(task: Task) -> str:
    """Return file, line and function; "" where it does not wait in the application."""
    found = ""
    for frame, line in task.iter_await_frames():
        code = frame.f_code
        if is_of_application(code.co_filename):
            found = f"{os.path.relpath(code.co_filename)}:{line} {code.co_name}"
    return found
