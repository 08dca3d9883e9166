"""Names that stay undefined, found by pyflakes. Called by `project`."""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Iterable, Iterator

from pyflakes import messages
from pyflakes.checker import Checker

from fxtrio.compile.inject import WITH_ACTION, WITH_LOADER
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText

_RUNTIME = (*WITH_LOADER, *WITH_ACTION, "redirect")
_UNDEFINED = (messages.UndefinedName, messages.UndefinedLocal, messages.UndefinedExport)


def undefined_names(source: SourceText, python: str, injected: Iterable[str]) -> Iterator[Problem]:
    """Yield a problem for every name that ``python`` uses and nothing defines."""
    try:
        checker = Checker(ast.parse(python), filename=source.path, builtins=set(injected))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # the split has reported it
    for message in checker.messages:
        if isinstance(message, _UNDEFINED):
            name = str(message.message_args[0])
            yield source.node_problem(
                message.lineno, message.col, f"undefined name {name!r}", _remedy(name, checker)
            )


def _remedy(name: str, checker: Checker) -> str:
    if name in _RUNTIME:
        return f"Write 'from fx.runtime import {name}'"
    known = [*checker.scopeStack[0], *vars(builtins)] if checker.scopeStack else [*vars(builtins)]
    close = difflib.get_close_matches(name, map(str, known), n=1)
    return f"Define or import it, or did you mean {close[0]!r}" if close else "Define or import it"
