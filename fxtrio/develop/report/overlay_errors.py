"""Problems, as the overlay of the browser shows them (`OverlayProblem` of settings.d.ts)."""

from __future__ import annotations

import re
import traceback
from pathlib import Path
from typing import NotRequired, TypedDict

from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText, file_bytes, read_bytes
from fxtrio.develop.processes.messages import Swap, Swapped
from fxtrio.errors import FxtrioError
from fxtrio.ssr.errors import RenderFailed, place_in_stack
from fxtrio.tracebacks import first_of, is_application

_FRAME = re.compile(r'  File "([^"]+)", line (\d+)')
_RAISED = re.compile(r"[A-Za-z_][\w.]*(?:: .*)?")
"""A line that ends a traceback."""

_NAMED = re.compile(r"([^\n:]*\.\w+):(?:(\d+):)?(?:(\d+):)?(?: (\w+)\(\))?")
"""A file at the beginning of a message, relative to the project folder."""

_NOT_SWAPPED = "The new code cannot be imported; the previous code is still in use"
_NOT_RESTARTED = "A restart is due, but a new process cannot import the app"
_REMEDY = (
    "Fix it and save: this message disappears. "
    "To show visitors a message, raise LoaderError or ActionError."
)
_REMEDY_OF_RENDERS = "Fix it and save: this message disappears."


class OverlayProblem(TypedDict):
    """One thing that is wrong; `file` is absolute, "" when none is to blame."""

    title: str
    message: str
    file: str
    line: int
    column: int
    frame: str
    """The lines around the place."""

    trace: NotRequired[str]
    """The traceback, or a stack of JavaScript."""

    remedy: NotRequired[str]
    """What to do, where the message does not say it."""

    request: NotRequired[str]
    """The id of the request that it happened in."""

    finding: NotRequired[bool]
    """Whether nothing has failed: a check has found it."""

    pages: NotRequired[list[str]]
    """Absolute paths of the page files that need it, where it is known which."""

    swap: NotRequired[bool]
    """Whether it has kept server code from being replaced: it is gone as soon as some has been.

    A restart may still be prevented then."""


Place = tuple[str, int, int]
"""An absolute path, line and column, both from 1; ``("", 0, 0)`` for no place."""


def overlay_problem(problem: Problem, root: Path) -> OverlayProblem:
    """Return a mistake that the compiler has found."""
    path = (root / problem.path).absolute()
    frame = problem.frame
    if not frame and problem.line:
        source = _read(path, problem.path)
        frame = source.frame(problem.line, problem.column) if source is not None else ""
    end = "" if problem.remedy.endswith("?") else "."
    return OverlayProblem(
        title=problem.path,
        message=f"{problem.message}. {problem.remedy}{end}",
        file=str(path),
        line=problem.line,
        column=problem.column,
        frame=frame,
    )


def overlay_finding(problem: Problem, root: Path) -> OverlayProblem:
    """Return what a check says of code that runs."""
    entry = overlay_problem(problem, root)
    title = f"{problem.severity.value.capitalize()}: {entry['title']}"
    return {**entry, "title": title, "finding": True}


def overlay_failure(swapped: Swapped, order: Swap, root: Path) -> OverlayProblem:
    """Return why the new Python code of ``order`` is not in use, or why there was no restart."""
    places = [
        (path, int(line))
        for path, line in _FRAME.findall(swapped.failed)
        if Path(path).is_relative_to(root)
    ]
    if places:
        file, line, column = (*places[-1], 1)
    else:
        file, line, column = _place_named(swapped.error, root)
    source = _read(Path(file), file) if file else None
    return OverlayProblem(
        title=_NOT_RESTARTED if order.restart else _NOT_SWAPPED,
        message=swapped.error,
        file=file,
        line=line,
        column=column,
        frame=source.frame(line, column) if source is not None else "",
        trace=swapped.failed.rstrip(),
        pages=sorted(str(root / source) for source in {*order.sources, *swapped.sources}),
        swap=not order.restart,
    )


def overlay_error(error: BaseException, title: str, root: Path) -> OverlayProblem:
    """Return a defect that a request has met with: an error of Python or of a render."""
    if isinstance(error, RenderFailed):
        file, line, column = place_in_stack(error.stack, root)
        message, trace, remedy = str(error), error.stack, _REMEDY_OF_RENDERS
    elif error.__traceback__ is None or isinstance(error, FxtrioError):
        file, line, column = _place_named(str(error), root)
        # Our own errors say what to do.
        message, trace, remedy = str(error), "", _explanation_of(error)
    else:
        file, line, column = _place_of(error, root)
        message = "".join(traceback.format_exception_only(error)).strip()
        trace, remedy = "".join(traceback.format_exception(error)).rstrip(), _remedy_of(error)
    source = _read(Path(file), file) if file else None
    frame = source.frame(line, column) if source is not None and line else ""
    return OverlayProblem(
        title="The server has failed" if title == message else title.partition("\n")[0],
        message=message,
        file=file,
        line=line,
        column=column,
        frame=frame,
        trace=trace,
        remedy=remedy,
    )


def _explanation_of(error: BaseException) -> str:
    documented = isinstance(error, FxtrioError)
    return f"See 'fx docs {type(error).__name__}'." if documented else ""


def _remedy_of(error: BaseException) -> str:
    error = first_of(error)
    if isinstance(error, NameError):
        # Heavy, and the process that serves begins with this module.
        from fxtrio.compile.split.suggestions import HOMES, import_remedy

        if error.name in HOMES:
            remedy = import_remedy(error.name)
            return f"{remedy}: only page files have some names without an import."
    return _REMEDY


def overlay_stop(title: str, details: str, root: Path) -> OverlayProblem:
    """Return why nothing of the project is served: ``details`` end with a traceback, or a message.

    What stands around a traceback of groups, bars and all, is left aside for the place.
    """
    lines = details.splitlines()
    file, row, column = _place_named(details, root)
    message = ""
    for index, text in enumerate(lines):
        frame = _FRAME.search(text)
        if frame and Path(frame[1]).is_relative_to(root) and is_application(frame[1]):
            file, row, column = frame[1], int(frame[2]), 1
            rest = (one.strip(" |") for one in lines[index + 2 :])  # behind the text of the line
            message = next((one for one in rest if _RAISED.fullmatch(one)), "")
    source = _read(Path(file), file) if file else None
    around = source.frame(row, column) if source is not None and row else ""
    return OverlayProblem(
        title=title,
        message=message,
        file=file,
        line=row,
        column=column,
        frame=around,
        trace=details,
    )


def _place_of(error: BaseException, root: Path) -> Place:
    """Return where in the project an error came from at last."""
    error = first_of(error)
    place = ("", 0, 0)
    for frame in traceback.extract_tb(error.__traceback__):
        if Path(frame.filename).is_relative_to(root) and is_application(frame.filename):
            place = (frame.filename, frame.lineno or 1, (frame.colno or 0) + 1)
    return place


def _place_named(message: str, root: Path) -> Place:
    named = _NAMED.match(message)
    if named is None or not (root / named[1]).is_file():
        return "", 0, 0
    file, line, column, function = named.groups()
    if line is None and function is not None:
        line = _line_of(root / file, function)
    return str(root / file), int(line or 1), int(column or 1)


def _line_of(path: Path, function: str) -> int | None:
    """Return the line in which a function of Python begins; None when it is not found."""
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return None
    found = re.search(rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{function}\b", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else None


def _read(path: Path, name: str) -> SourceText | None:
    try:
        source = read_bytes(file_bytes(path), name)
    except OSError:
        return None
    return source if isinstance(source, SourceText) else None
