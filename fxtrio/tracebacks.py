"""Tracebacks that begin in the application's code, for logs and error pages.

Above that code stand the frames of what called it: the server, the dispatcher, trio. They
are the same for every failure and say nothing about it. Frames below it stay: they show
what the application has called.
"""

from __future__ import annotations

import linecache
import logging
import sysconfig
import traceback
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType, TracebackType

_PAGE = ".fxl"


def trimmed(error: BaseException) -> BaseException:
    """Return ``error`` after its traceback was cut to begin in the application's code.

    Of what stands between its frames, those with a local variable `__tracebackhide__` are cut
    as well. What fails because it needs asyncio gets a note that says so, and what to do. The
    same is done to its causes and to the errors that it groups. A traceback without any frame
    of the application stays whole: then the defect is elsewhere.
    """
    for one in _with_others(error):
        one.__traceback__ = _from_application(one.__traceback__)
        _cut_hidden(one.__traceback__)
        if _is_of_text(one):
            one.__traceback__ = None
        if _needs_asyncio(one) and not getattr(one, "__notes__", None):
            one.add_note(_asyncio_hint(one))
    return error


def logged_error(record: logging.LogRecord) -> BaseException | None:
    """Return the error that a record is about: with its traceback, or as its message."""
    if record.exc_info and record.exc_info[1] is not None:
        return record.exc_info[1]
    values = record.args if isinstance(record.args, tuple) else ()
    about = (getattr(record, "failure", None), *values)
    return next((value for value in about if isinstance(value, BaseException)), None)


Tracebacks = tuple[tuple[BaseException, TracebackType | None], ...]
"""Of an error, its causes and the errors that it groups."""


def tracebacks_of(error: BaseException) -> Tracebacks:
    """Return what `restore_tracebacks` needs after `drop_tracebacks`."""
    return tuple((one, one.__traceback__) for one in _with_others(error))


def restore_tracebacks(tracebacks: Tracebacks) -> None:
    """Let the errors have the tracebacks that they had."""
    for one, traceback_of_one in tracebacks:
        one.__traceback__ = traceback_of_one


def drop_tracebacks(error: BaseException) -> None:
    """Let an error, its causes and the errors that it groups go of the frames they came through."""
    for one in _with_others(error):
        one.__traceback__ = None


def _with_others(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, its causes and the errors that it groups, each once."""
    waiting, seen = [error], {id(error)}
    while waiting:
        one = waiting.pop()
        yield one
        inner = one.exceptions if isinstance(one, BaseExceptionGroup) else ()
        for other in (one.__cause__, one.__context__, *inner):
            if other is not None and id(other) not in seen:
                seen.add(id(other))
                waiting.append(other)


def frame_in_application(error: BaseException) -> tuple[CodeType, int] | None:
    """Return the code of the application, and its line, from which ``error`` came at last."""
    found = None
    here = error.__traceback__
    while here is not None:
        if is_application(here.tb_frame.f_code.co_filename):
            found = here.tb_frame.f_code, here.tb_lineno
        here = here.tb_next
    return found


def place_in_application(error: BaseException, root: Path) -> str:
    """Return the line of the application from which ``error`` came at last, "" without one.

    It is ``pages/book.fxl:11 load``, with the file relative to ``root``. Of a group it is that of
    the first error in it, and of an error without such a line that of its cause.
    """
    for one in (first_of(error), error):
        found = frame_in_application(one)
        if found is not None:
            code, line = found
            file = Path(code.co_filename)
            place = file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)
            return f"{place}:{line} {code.co_name}"
    cause = error.__cause__
    return "" if cause is None else place_in_application(cause, root)


def line_in_application(error: BaseException) -> int:
    """Return the line of the application from which ``error`` came at last, 0 without one."""
    found = frame_in_application(error)
    return 0 if found is None else found[1]


@lru_cache(maxsize=10_000)  # of the files whose code runs
def is_application(file: str) -> bool:
    """Whether code of ``file`` belongs to the application, and to no library.

    Page files always do: an application may itself be installed like a library.
    """
    if file.endswith(_PAGE):
        return True
    return not file.startswith(("<", *_library_folders()))


def _from_application(whole: TracebackType | None) -> TracebackType | None:
    """Return the part from the first page file on, with what of the application called it.

    Without a page file it is the part from the application's first frame on.
    """
    first = began = None
    here = whole
    while here is not None:
        file = here.tb_frame.f_code.co_filename
        if not is_application(file):
            began = None
        elif began is None:
            began = here
            first = first or here
        if file.endswith(_PAGE):
            return began
        here = here.tb_next
    return first or whole


def _cut_hidden(first: TracebackType | None) -> None:
    """Cut the frames behind ``first`` whose functions say that they are to be hidden."""
    here = first
    while here is not None:
        after = here.tb_next
        while after is not None and "__tracebackhide__" in after.tb_frame.f_code.co_varnames:
            after = after.tb_next
        here.tb_next = after
        here = after


def _is_of_text(error: BaseException) -> bool:
    """Whether ``error`` names the line of the application that Python cannot read.

    Then what stands above it is what has tried to import it, and nothing else.
    """
    if not isinstance(error, SyntaxError) or not is_application(error.filename or "<"):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    return not any(is_application(frame.filename) for frame in frames)


def _needs_asyncio(error: BaseException) -> bool:
    """Whether ``error`` is what code for asyncio fails with on another event loop."""
    said = str(error)
    if isinstance(error, TypeError):  # what trio makes of a future
        return said.startswith("trio.run received unrecognized yield message")
    if isinstance(error, AttributeError):  # what its locks and queues make of no loop
        return said == "'NoneType' object has no attribute 'create_future'"
    return isinstance(error, RuntimeError) and said.startswith(
        (
            "no running event loop",
            "There is no current event loop",
            "Timeout should be used inside a task",  # a loop that is not ours runs in the thread
        )
    )


def _asyncio_hint(error: BaseException) -> str:
    """Return one line: the call of the application that needs asyncio, and the remedy."""
    place = ""
    here = error.__traceback__
    while here is not None:
        file = here.tb_frame.f_code.co_filename
        if is_application(file):
            line = linecache.getline(file, here.tb_lineno, here.tb_frame.f_globals).strip()
            place = f"{_display_path(file)}:{here.tb_lineno}: {line!r} " if line else ""
        here = here.tb_next
    return (
        f"{place or 'This '}needs asyncio, and the server runs on trio. Await it through the "
        "portal ('from fx.asyncio import portal'), or call one that is not asynchronous "
        "in a thread ('trio.to_thread.run_sync')."
    )


def _display_path(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


@cache
def _library_folders() -> tuple[str, ...]:
    """Return the folders of Python, of installed packages and of the framework."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    own = Path(__file__).parent
    folders = [sysconfig.get_path(name) for name in names]
    return tuple({f"{folder}/" for folder in (*folders, own, own.parent / "fx")})


def first_of(error: BaseException) -> BaseException:
    """Return an error; of a group the first that is no group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
