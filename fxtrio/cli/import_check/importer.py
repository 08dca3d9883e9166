"""Imports one thing after the other, and turns what they raise into problems.

Each is reported at the line of the project that is to blame, once, however many files
import it.
"""

from __future__ import annotations

import linecache
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TypeVar

import attrs

from fxtrio import runtime
from fxtrio.compile.bundling.extras import install_remedy
from fxtrio.compile.check import pyxle_migration
from fxtrio.compile.check.names.unresolved_imports import name_remedy
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import read_bytes
from fxtrio.errors import FxtrioError, PlacedError
from fxtrio.manifest import MODULE_PREFIX
from fxtrio.tracebacks import is_application

Result = TypeVar("Result")

_START = "Start what it needs, or connect when the app starts and not on import: in a plugin"
_FRAMEWORK = (
    "fx.runtime",
    "fx.db",
    "fx.jobs",
    "fx.tasks",
    "fx.realtime",
    "fx.cache",
    "fx.testing",
)
_MOST_NAMED = 3
_NO_NAME = re.compile(
    r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'"
)


class Impatient(BaseException):
    """An import took too long. No Exception, so that the imported code lets it pass."""


@attrs.define
class Attempts:
    """Runs imports, and collects what they raise."""

    root: Path
    """The project folder."""

    timeout: float
    """How long one import may take (seconds)."""

    tell: Callable[[str], None]
    """Gets the name of each before it runs."""

    _failed: dict[Problem, list[str]] = attrs.field(factory=dict)

    def run(self, source: str, load: Callable[[], Result]) -> Result | None:
        """Return what ``load`` does; None when it fails. ``source`` is what it imports."""
        self.tell(source)
        try:
            with _timeout(self.timeout):
                return load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # application code, which may call sys.exit()
            self.add(error, source)
            return None

    def add(self, error: BaseException, source: str) -> None:
        """Note that importing ``source`` has raised ``error``."""
        path, line, column = self._place(error, source)
        message, remedy = explain(error)
        if isinstance(error, ModuleNotFoundError) and (beside := self._beside(source, error.name)):
            remedy = f"Modules are found from the project folder: write {beside!r}"
        message_text = f"importing it fails: {message}"
        frame = _frame(error.filename, line, column) if isinstance(error, SyntaxError) else ""
        problem = Problem(path, line, column, message_text, remedy, frame)
        self._failed.setdefault(problem, []).append(source)

    def problems(self) -> list[Problem]:
        """Return all problems, with those who import what fails."""
        return [_with_importers(problem, names) for problem, names in self._failed.items()]

    def _place(self, error: BaseException, source: str) -> tuple[str, int, int]:
        """Return the innermost place in the project; else the first line of ``source``."""
        if isinstance(error, SyntaxError) and error.filename and self._is_own(error.filename):
            return self._display_path(error.filename), error.lineno or 1, max(error.offset or 1, 1)
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            if self._is_own(frame.filename) and frame.lineno:
                return self._display_path(frame.filename), frame.lineno, _column(frame)
        is_file = (self.root / source).is_file()
        return (source, 1, 1) if is_file else (source, 0, 0)

    def _beside(self, source: str, name: str | None) -> str:
        """Return the dotted name of a module that stands beside ``source``; "" without one."""
        folder = Path(source).parent
        parts = (*folder.parts, name or "")
        is_there = (self.root / folder / f"{name}.py").is_file()
        return ".".join(parts) if is_there and all(map(str.isidentifier, parts)) else ""

    def _is_own(self, file: str) -> bool:
        return Path(file).is_relative_to(self.root) and is_application(file)

    def _display_path(self, file: str) -> str:
        return Path(file).relative_to(self.root).as_posix()


def explain(error: BaseException) -> tuple[str, str]:
    """Return what has happened and what to do about it, both without a full stop."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return _no_module(error.name)
    if isinstance(error, SystemExit):
        return f"it exits the process with {error.code!r}", "Do not exit the process on import"
    if isinstance(error, Impatient):
        return str(error), _START
    if _is_environment(error):
        return (
            f"the environment variable {error.args[0]!r} is not set",
            "Set it for commands of fx, too",
        )
    if isinstance(error, FxtrioError):
        return _of_framework(error)
    if isinstance(error, ImportError) and (found := _NO_NAME.match(str(error))):
        return _no_name(*found.groups())
    cause_text = _last_line(error)
    if isinstance(error, OSError):  # ConnectionRefusedError, TimeoutError, FileNotFoundError
        return cause_text, _START
    return cause_text, "Fix this line: the app cannot start while it fails"


def _of_framework(error: FxtrioError) -> tuple[str, str]:
    remedy = f"See 'fx docs {type(error).__name__}'"
    if not isinstance(error, PlacedError):  # several problems, each with its remedy
        return _one_line(str(error)), remedy
    cause = f"{error.place}: {error.cause}" if error.place else error.cause
    return _one_line(cause), _one_line(error.remedy) or remedy


def _one_line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def _no_module(name: str) -> tuple[str, str]:
    if name.startswith(MODULE_PREFIX):
        cause = "a page is not part of a package, so relative imports do not work in it"
        return cause, "Write 'import name' for a module of the project folder"
    if name.partition(".")[0] == "fx":
        return f"there is no module {name!r}", f"The framework has {', '.join(_FRAMEWORK)}"
    remedy = (
        pyxle_migration.module_remedy(name)
        if pyxle_migration.is_foreign(name)
        else install_remedy(name)
    )
    return f"there is no module {name!r}", remedy


def _no_name(name: str, module: str) -> tuple[str, str]:
    if module == "fx" and hasattr(runtime, name):
        return f"{module!r} has no {name!r}", f"Write 'from fx.runtime import {name}'"
    return f"{module!r} has no {name!r}", name_remedy(name, dir(sys.modules.get(module)))


def _last_line(error: BaseException) -> str:
    """Return the line of a traceback that has the message, and Python's own suggestion."""
    lines = list(traceback.TracebackException.from_exception(error).format_exception_only())
    notes = len(getattr(error, "__notes__", ()))
    return " ".join(lines[len(lines) - notes - 1].split()).rstrip(".?")


def _is_environment(error: BaseException) -> bool:
    if not isinstance(error, KeyError) or len(error.args) != 1:
        return False
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename == type(os.environ).__getitem__.__code__.co_filename


def _column(frame: traceback.FrameSummary) -> int:
    """Return the column in characters, from 1; Python counts bytes, from 0."""
    text = linecache.getline(frame.filename, frame.lineno or 0)
    return len(text.encode()[: frame.colno or 0].decode(errors="replace")) + 1


def _frame(file: str | None, line: int, column: int) -> str:
    """Return the lines of a module around a mistake; "" when it cannot be read."""
    try:
        source = read_bytes(Path(file or "").read_bytes(), "")
    except OSError:
        return ""
    return "" if isinstance(source, Problem) else source.frame(line, column)


def _with_importers(problem: Problem, sources: list[str]) -> Problem:
    others = [source for source in dict.fromkeys(sources) if source != problem.path]
    if not others:
        return problem
    named = ", ".join(others[:_MOST_NAMED])
    more = len(others) - _MOST_NAMED
    who = f"{named} and {more} more" if more > 0 else named
    return attrs.evolve(problem, message=f"{problem.message} (imported by {who})")


@contextmanager
def _timeout(seconds: float) -> Iterator[None]:
    """Raise Impatient in the block, wherever it is, when it takes longer than ``seconds``."""

    def interrupt(_: int, __: FrameType | None) -> None:
        raise Impatient(f"it takes longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
